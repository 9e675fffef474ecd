# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Meson describes the build; this file holds the commands that people type.

build: build/build.ninja
	ninja -C build

# with the tests, which need more packages
tests: build/build.ninja
	tools/install-packages build test
	tools/fetch-toolchain
	meson configure build -Dtests=enabled
	ninja -C build

build/build.ninja:
	tools/install-packages build
	meson setup build

demo:
	tools/install-packages build demo
	$(MAKE) build
	tools/demo

test:
	tools/install-packages build test
	tools/test

test-long:
	tools/install-packages build test
	tools/test --long

check: tests
	meson test -C build --no-rebuild --print-errorlogs --no-suite slow --no-suite long

# such as: make coverage ARGUMENTS="--no-suite e2e"
coverage:
	tools/install-packages build test
	tools/fetch-toolchain
	tools/coverage $(ARGUMENTS)

accuracy: tests
	tests/accuracy/check-accuracy long build/tests/accuracy/compare build/tests/accuracy/cache-exactness \
		$(wildcard build/tests/accuracy/kernel-exactness)

steps: tests
	tests/steps/check-steps long build/tests/steps/step-judge
	tests/steps/check-inner-steps long build/tests/steps/inner-judge build/tests/steps/libwalk-agent.so

storm: tests
	build/tests/storm/code_storm 300 build/tests/storm/libstorm_plugin_*.so
	BOBBIN_STORM_SECONDS=600 tests/e2e/backtrace_storm.sh build/src/cli/bobbin build/src/libbobbin-backtrace.so

linux:
	tools/install-packages build linux
	linux/build

test-linux: build linux
	tools/install-packages build test
	tools/fetch-kernels
	tools/fetch-perf
	tools/fetch-toolchain
	linux/build --arm64
	linux/build --s390
	linux/check-sources
	tests/linux/check-mails
	meson configure build -Dtests=enabled
	ninja -C build tests/codemap/linux_calls_test
	tests/linux/check-kernel 30 build/src/libbobbin-freestanding.a
	tests/linux/check-linux build
	tools/fetch-sysroot
	tools/fetch-machines
	tests/linux/check-cross build/src/cli/bobbin
	tests/linux/check-machines

# the kernel with all that finds faults at run time, and ten minutes of calls of chance
fuzz-linux: build
	tools/install-packages build linux
	tools/fetch-kernels
	linux/build --debug
	tests/linux/check-kernel --debug 600 build/src/libbobbin-freestanding.a

bench:
	tools/install-packages build test bench
	tools/fetch-toolchain
	meson setup build-bench -Dbench=true -Dtests=disabled
	meson test -C build-bench --benchmark --verbose

install: build
	tools/install-tree build

uninstall:
	tools/install-tree --remove build

deb:
	tools/install-packages build deb
	tools/build-deb

format:
	tools/install-packages format
	tools/check-format --fix

# each of these in an empty root, which takes half a day
targets:
	tools/install-packages root
	tests/tools/check-targets

clean:
	rm -rf build build-asan build-tsan build-aarch64 build-s390x build-fuzz build-bench build-coverage demo.data demo.svg

.PHONY: build tests demo test test-long check coverage accuracy steps storm linux test-linux fuzz-linux bench install uninstall deb format targets clean
