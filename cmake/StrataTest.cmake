# Unit tests: one program for one source file, run by ctest as unit/<layer>/<file>.

# strata_unit_test(LAYER NAME [LIBRARIES lib...]): tests/unit/LAYER/test_NAME.c
function(strata_unit_test layer name)
  cmake_parse_arguments(TEST "" "" "LIBRARIES" ${ARGN})
  set(target test_${layer}_${name})
  add_executable(${target} test_${name}.c)
  strata_compile_flags(${target})
  target_link_libraries(${target} PRIVATE strata_${layer} ${TEST_LIBRARIES} cmocka)
  target_compile_definitions(${target} PRIVATE
    STRATA_FIXTURES="${CMAKE_SOURCE_DIR}/tests/fixtures")
  add_test(NAME unit/${layer}/${name} COMMAND ${target})
  set_tests_properties(unit/${layer}/${name} PROPERTIES LABELS unit TIMEOUT 60)
endfunction()
