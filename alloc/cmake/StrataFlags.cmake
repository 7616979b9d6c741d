# One place for how every target of the project is compiled. The allocator
# stands alone, so the file lives with it and the rest of the house includes it.

option(STRATA_WERROR "treat warnings as errors (on in the dev preset and in CI)" OFF)
set(STRATA_SANITIZE "" CACHE STRING "value for -fsanitize=, for example address,undefined")

# strata_compile_flags(TARGET): language level, warnings, hardening, sanitizers.
function(strata_compile_flags target)
  set_target_properties(${target} PROPERTIES
    C_STANDARD 17 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
    C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    -Wold-style-definition -Wpointer-arith -Wcast-align -Wwrite-strings -Wundef
    -Wformat=2 -Wvla -Wnull-dereference -Wdouble-promotion -Wswitch-enum
    -Wno-unused-command-line-argument -fno-omit-frame-pointer)
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE
      -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Walloc-zero)
  endif()
  if(STRATA_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(STRATA_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${STRATA_SANITIZE}
      -fno-sanitize-recover=all)
    target_link_options(${target} PRIVATE -fsanitize=${STRATA_SANITIZE})
  endif()
endfunction()
