# A toolchain file: 64-bit ARM, by Debian's cross compiler and the libraries in STRATA_SYSROOT,
# its programs run by qemu. tools/test-aarch64 makes that folder and uses this file.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES STRATA_SYSROOT)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_SYSROOT ${STRATA_SYSROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${STRATA_SYSROOT})
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${STRATA_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${STRATA_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)
