# Unit tests: one program for one source file, run by ctest as unit/<layer>/<file>.

# strata_unit_test(LAYER NAME [LIBRARIES lib...]): tests/unit/LAYER/test_NAME.c
function(strata_unit_test layer name)
  cmake_parse_arguments(TEST "" "" "LIBRARIES" ${ARGN})
  set(target test_${layer}_${name})
  add_executable(${target} test_${name}.c)
  strata_compile_flags(${target})
  # The compiler does not know that a failed assertion of cmocka does not return.
  target_compile_options(${target} PRIVATE -Wno-null-dereference)
  target_link_libraries(${target} PRIVATE strata_${layer} ${TEST_LIBRARIES} cmocka)
  target_compile_definitions(${target} PRIVATE
    STRATA_FIXTURES="${CMAKE_SOURCE_DIR}/tests/fixtures")
  add_test(NAME unit/${layer}/${name} COMMAND ${target})
  set_tests_properties(unit/${layer}/${name} PROPERTIES LABELS unit)
endfunction()

# strata_fuzz(NAME LAYER [RUNS n]): tests/fuzz/fuzz_NAME.c, which defines
# LLVMFuzzerTestOneInput. Built with the preset fuzz only. The test fuzz/NAME replays
# tests/fuzz/corpus/NAME and then tries n inputs (default 20000) from a fixed seed, so
# it does the same work each time; what is new goes to a folder of the build and is
# dropped before each run. tools/run-fuzz runs the same program for long.
function(strata_fuzz name layer)
  cmake_parse_arguments(FUZZ "" "RUNS" "" ${ARGN})
  if(NOT STRATA_FUZZ)
    return()
  endif()
  if(NOT FUZZ_RUNS)
    set(FUZZ_RUNS 20000)
  endif()
  set(seeds ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name})
  if(NOT IS_DIRECTORY ${seeds})
    message(FATAL_ERROR "fuzz target '${name}' has no seeds in '${seeds}'")
  endif()
  add_executable(fuzz_${name} fuzz_${name}.c)
  strata_compile_flags(fuzz_${name})
  target_link_libraries(fuzz_${name} PRIVATE strata_${layer})
  target_compile_options(fuzz_${name} PRIVATE -Wno-missing-prototypes)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  set(fresh ${CMAKE_BINARY_DIR}/fuzz-corpus/${name})
  add_test(NAME fuzz/${name}
    COMMAND sh -c "rm -rf \"$1\" && mkdir -p \"$1\" && shift && exec \"$@\"" sh ${fresh}
      $<TARGET_FILE:fuzz_${name}> -runs=${FUZZ_RUNS} -seed=1 -rss_limit_mb=1024 -timeout=60
      -artifact_prefix=${fresh}/ -verbosity=0 -print_final_stats=1 ${fresh} ${seeds})
  set_tests_properties(fuzz/${name} PROPERTIES LABELS fuzz)
endfunction()
