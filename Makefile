# A front without lists: what is built and tested is said in the CMakeLists.txt files.
PREFIX ?= /usr/local
DESTDIR ?=

# A new folder gets no tests, so that nothing only they need is asked for; one that has them keeps them.
WITHOUT_TESTS = $(if $(wildcard build/release/CMakeCache.txt),,-DSTRATA_TESTS=OFF -DBUILD_TESTING=OFF)
WITH_TESTS = -DSTRATA_TESTS=ON -DBUILD_TESTING=ON

.PHONY: all test test-matrix test-unit packages test-packages test-aarch64 test-kernel demo fuzz bench bench-malloc install clean format tidy check-all test-preload nightly soak test-asan test-tsan

# The program and the libraries, as users get them, in build/release. The prefix is in pkg-config files and units.
all:
	tools/setup build
	cmake --preset release $(WITHOUT_TESTS) -DCMAKE_INSTALL_PREFIX='$(PREFIX)'
	cmake --build --preset release

# Everything that must pass; closes with the number of tests passed and failed.
test:
	tools/setup test
	tools/run-tests

# The tests of PHP against versions from another Debian, unpacked once into a cache folder.
test-matrix:
	tools/test-matrix

# The Debian packages, in build/packages.
packages:
	tools/setup build matrix
	tools/build-packages

# ... and installed, upgraded and removed in a clean Debian.
test-packages:
	tools/setup build matrix
	tools/test-packages

# Everything for 64-bit ARM, and the unit tests run there by qemu.
test-aarch64:
	tools/setup build matrix
	tools/test-aarch64

# The systemd units, run by a systemd in a container.
test-unit: all
	tools/setup build matrix
	tools/test-unit

# The tool on a kernel of its own, in qemu: cgroup v2, swap, Yama.
test-kernel:
	tools/setup build matrix
	tools/test-kernel

# The main job on real input: before, predicted, after.
demo:
	tools/setup demo
	cmake --preset release $(WITHOUT_TESTS)
	cmake --build --preset release
	tools/demo

# Each fuzz target for FUZZ_SECONDS (default 300).
fuzz:
	tools/setup test
	tools/run-fuzz

# Figures beside those of other tools; results go to build/bench.
bench:
	tools/setup bench
	cmake --preset release $(WITH_TESTS)
	cmake --build --preset release
	tools/run-benches

# The malloc replacement beside its peers: tables and a plot in build/bench; an hour and a half.
bench-malloc:
	tools/setup bench
	cmake --preset release $(WITH_TESTS) -DBENCH_MALLOC_OPTIONS='$(BENCH_OPTIONS)'
	cmake --build --preset release --target bench-malloc

install: all
	DESTDIR='$(DESTDIR)' cmake --install build/release

format:
	git ls-files '*.c' '*.h' | xargs clang-format -i

tidy:
	cmake --preset dev
	tools/check-tidy

# Other programs and their own tests with and without the malloc replacement.
test-preload:
	tools/setup test
	cmake --preset release $(WITH_TESTS)
	cmake --build --preset release
	tools/test-preload

# All tests of the allocator under gcc's sanitizers, on the path without restartable sequences;
# make test has them under clang's address sanitizer, with those.
# What cannot run says alloc/tests/CMakeLists.txt. Addresses must not be random for threads.
SANITIZE_test-asan = address,undefined
SANITIZE_test-tsan = thread
test-asan test-tsan:
	tools/setup test
	cmake -S alloc -B build/$@ -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSTRATA_WERROR=ON \
		-DSTRATA_SANITIZE=$(SANITIZE_$@) -DBUILD_TESTING=ON
	cmake --build build/$@
	setarch -R ctest --test-dir build/$@ -j "$$(nproc)" --output-on-failure --no-tests=error

# The tests, and what takes too long or downloads too much for them.
check-all: test tidy test-preload test-matrix test-packages test-unit test-aarch64 test-kernel test-asan test-tsan
	tools/check-abi
	FUZZ_SECONDS=20 tools/run-fuzz

# What a night is for: long fuzzing, an hour of random operations, figures beside others'.
nightly: check-all fuzz soak bench bench-malloc

# The allocators' random tests with new seeds, for SOAK_SECONDS (default 3600).
soak:
	tools/setup test
	tools/soak

clean:
	rm -rf build alloc/build
