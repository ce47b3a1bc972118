# Writes OUTPUT, a C++ file with the text of each of FILES, for src/api/EmbeddedLibrary.h.
set(text "#include \"api/EmbeddedLibrary.h\"\n\nconst std::vector<tokamak::api::EmbeddedSource> &tokamak::api::embeddedLibrary() {\n")
string(APPEND text "  static const std::vector<EmbeddedSource> sources = {\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} content)
  # A string literal may have 65536 characters at most in the standard; scripts are far smaller.
  string(APPEND text "      {\"${name}\", \"lib/${name}.dml\", R\"dml(${content})dml\"},\n")
endforeach()
string(APPEND text "  };\n  return sources;\n}\n")
file(WRITE ${OUTPUT} "${text}")
