# The version: that of the newest tag vMAJOR.MINOR.PATCH in the history of this commit. Sources without tags, such as an archive of
# a release or a shallow clone, have the one that stands here, which a release raises.
set(tokamak_version 0.1.0)

find_program(git git)
if(git)
  execute_process(
    COMMAND ${git} -C ${CMAKE_CURRENT_LIST_DIR} describe --tags --abbrev=0 --match "v[0-9]*.[0-9]*.[0-9]*" --exclude "*-*"
    OUTPUT_VARIABLE tag OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(tag MATCHES "^v([0-9]+\\.[0-9]+\\.[0-9]+)$")
    set(tokamak_version ${CMAKE_MATCH_1})
  endif()
endif()

if(CMAKE_SCRIPT_MODE_FILE) # cmake -P cmake/Version.cmake prints it: for the wheel
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo ${tokamak_version})
endif()
