# Writes OUTPUT, a C++ file with the page of FOLDER for tools/tokamak/PageTemplate.h: page.html, in which the style and
# the scripts replace the comments that name them.
file(READ ${FOLDER}/page.html page)
foreach(part page.css facts.js layout.js graph.js panels.js page.js)
  file(READ ${FOLDER}/${part} content)
  string(REPLACE "/*${part}*/" "${content}" page "${page}")
endforeach()
file(WRITE ${OUTPUT} "#include \"tokamak/PageTemplate.h\"

std::string_view tokamak::pageTemplate() {
  return R\"page(${page})page\";
}
")
