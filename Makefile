# A thin front over Meson and Ninja: https://mesonbuild.com works as usual, too.
#
#   make            build into $(BUILD)
#   make demo       profile an example program end to end; installs what it needs
#   make fleet-demo merge 2000 profiles over workers, of which one is killed
#   make test       build and run all tests; installs what they need
#   make soak-recorder  test suites of real programs under the branch recorder; about an hour
#   make soak-allocator  the same with libpgokit_alloc
#   make soak-use  C++ programs that clang builds by profiles of their own test suites
#   make soak-plugins  test suites of programs built with the plugins that count accesses
#   make soak-heap  150 programs of Debian under the heap profiler; installs many of them
#   make soak-default  the same under the heap profiler, the allocator and the branch recorder
#   make soak-names  how much of what programs allocate has a name, next to heaptrack: a table
#   make soak-aarch64  the heap profiler for AArch64 in an emulator: 1000 random programs, 1000 kills
#   make bench      compare with LLVM's tools; installs what it needs
#   make install    PREFIX=/usr/local, DESTDIR for packagers
#   make dist       the release tarball, in $(BUILD); building it takes no git
#   make packages   Debian packages, in $(BUILD)/packages; installs what making them needs
#   make fuzz       run every fuzz target for FUZZ_SECONDS; FUZZ_ARGS=--pack keeps new seeds
#   make clean      remove $(BUILD)
#
# CC, CFLAGS and LDFLAGS count when $(BUILD) is first set up; MESON_ARGS are given to
# `meson setup`, TEST_ARGS to scripts/run-tests.

BUILD ?= build
PREFIX ?= /usr/local
MESON_ARGS ?=
TEST_ARGS ?=
FUZZ_SECONDS ?= 60
FUZZ_ARGS ?=

MAKEFLAGS += --no-print-directory

.PHONY: build demo fleet-demo test soak-recorder soak-allocator soak-use soak-plugins soak-heap \
    soak-names soak-default soak-aarch64 bench install
.PHONY: dist packages fuzz clean

build: $(BUILD)/build.ninja
	ninja -C $(BUILD)

$(BUILD)/build.ninja:
	scripts/deps build
	meson setup $(BUILD) $(MESON_ARGS)

demo:
	scripts/deps demo
	$(MAKE) build
	scripts/demo $(BUILD)

fleet-demo:
	scripts/deps demo fleet
	$(MAKE) build
	scripts/fleet-demo $(BUILD)

test:
	scripts/deps test
	$(MAKE) $(BUILD)/tests-enabled
	ninja -C $(BUILD)
	scripts/run-tests -C $(BUILD) $(TEST_ARGS)

# Without this, the tests that need cmocka are left out where it is missing.
$(BUILD)/tests-enabled: $(BUILD)/build.ninja
	meson configure $(BUILD) -Dtests=enabled
	touch $@

soak-recorder soak-allocator soak-use soak-plugins:
	scripts/deps bench test
	$(MAKE) build
	scripts/soak $(@:soak-%=%) $(BUILD)

soak-heap:
	scripts/deps test
	$(MAKE) build
	scripts/soak heap $(BUILD) --install

soak-names:
	scripts/deps test
	$(MAKE) build
	scripts/soak names $(BUILD)

soak-default:
	scripts/deps test
	$(MAKE) build
	scripts/soak heap $(BUILD) --install --under heap,allocator,branches,sampled

soak-aarch64:
	scripts/deps test
	scripts/cross
	$(MAKE) $(BUILD)/tests-enabled
	ninja -C $(BUILD)
	PGOKIT_TEST_PROGRAMS=1000 PGOKIT_TEST_KILLS=1000 \
		scripts/run-tests -C $(BUILD) --timeout-multiplier 20 heap_aarch64

bench:
	scripts/deps bench
	$(MAKE) build
	bench/run $(BUILD)

install: build
	meson configure $(BUILD) -Dprefix=$(PREFIX)
	meson install -C $(BUILD) $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))

dist:
	scripts/tarball $(BUILD)/pgokit-$$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build).tar.xz

packages:
	scripts/deps packages
	scripts/packages $(BUILD)/packages

fuzz:
	scripts/deps fuzz
	scripts/fuzz $(BUILD)/fuzz-clang $(FUZZ_SECONDS) $(FUZZ_ARGS)

clean:
	rm -rf $(BUILD)
