# Layers are separate targets, and a layer sees only the headers of the layers below it:
# each target's include folder holds one link, to its own source folder, and the link
# dependencies pass these folders on. An upward include is a missing file.

# strata_layer(NAME SOURCES file... [USES layer...] [LIBRARIES lib...])
function(strata_layer name)
  cmake_parse_arguments(LAYER "" "" "SOURCES;USES;LIBRARIES" ${ARGN})
  set(view ${CMAKE_BINARY_DIR}/layers/${name})
  file(MAKE_DIRECTORY ${view})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${name} ${view}/${name} SYMBOLIC)
  add_library(strata_${name} STATIC ${LAYER_SOURCES})
  strata_compile_flags(strata_${name})
  target_include_directories(strata_${name} PUBLIC ${view})
  foreach(lower IN LISTS LAYER_USES)
    target_link_libraries(strata_${name} PUBLIC strata_${lower})
  endforeach()
  target_link_libraries(strata_${name} PRIVATE ${LAYER_LIBRARIES})
endfunction()
