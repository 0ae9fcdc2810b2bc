# gpuprof. `make help` lists the targets.
#
#   O=DIR       build folder (build)
#   CC=clang    the C compiler
#   SAN=LIST    sanitizers for all but simulated kernels: SAN=address,undefined or SAN=thread
#   WERROR=1    warnings are errors
#   V=1         show the commands
#   CUDA_HOME=  the CUDA toolkit; else the one on PATH, /usr/local/cuda, build/cuda
#   PREFIX=, BINDIR=, LIBDIR=, DESTDIR=   where `make install` puts things
#   CHART_JS=   Chart.js 3 or later, minified, and CHART_JS_LICENCE= its licence; none: no report --html
#   SQLITE_LIBS=  flags that link SQLite; its archive, where there is one
# CFLAGS, CPPFLAGS and LDFLAGS are the builder's. Files built with others are built again.

O ?= build
ifeq ($(origin CC),default)
CC = gcc
endif
V ?= 0
PREFIX ?= /usr/local
BINDIR ?= bin
LIBDIR ?= lib
# below FOLDER,PATH: PATH, in FOLDER where it is relative.
below = $(if $(filter /%,$(firstword $(2))),$(2),$(1)/$(2))
override PREFIX := $(if $(PREFIX),$(call below,$(CURDIR),$(PREFIX)))
override BINDIR := $(call below,$(PREFIX),$(BINDIR))
override LIBDIR := $(call below,$(PREFIX),$(LIBDIR))
ifeq ($(V),0)
Q = @
say = @printf '  %-8s %s\n' '$(1)' '$(2)'
endif

toolkit = $(firstword $(foreach d,$(CUDA_HOME) $(patsubst %/bin/nvcc,%,$(shell command -v nvcc)) \
	/usr/local/cuda build/cuda,$(if $(wildcard $(d)/include/cuda_occupancy.h),$(d))))
CUDA := $(toolkit)
NVCC := $(CUDA)/bin/nvcc
cuda_includes := -isystem $(CUDA)/include $(if $(wildcard $(CUDA)/extras/CUPTI/include),-isystem $(CUDA)/extras/CUPTI/include)

warnings = -Wall -Wextra -Wvla $(if $(filter 1,$(WERROR)),-Werror)
san_flags = $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
cov_flags = $(if $(COVERAGE),--coverage -fprofile-update=atomic -O0)
CFLAGS ?= -O2 -g
all_cflags = -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(cov_flags) -fPIC -fvisibility=hidden $(warnings) -D_GNU_SOURCE \
	-iquote src -iquote include -I $(O)/compat $(pkg_cflags) $(cuda_includes) $(san_flags) $(own_cflags)
# inih, jansson and the others are linked statically: a guest brings its own dishes. An archive lies in
# LIBRARY_PATH, where pkg-config says, or where the compiler searches; if nowhere the shared library has to do.
pkg_config = $(shell $(PKG_CONFIG) $(1) 2>/dev/null)
PKG_CONFIG ?= pkg-config
archive = $(firstword $(wildcard $(addsuffix /$(2),$(subst :, ,$(LIBRARY_PATH)) $(call pkg_config,--variable=libdir $(1)))) \
	$(filter /%,$(shell $(CC) -print-file-name=$(2))))
link_with = $(or $(call archive,$(1),lib$(2).a),$(call pkg_config,--libs $(1)),-l$(2))
static_libs = $(eval static_libs := $(call link_with,jansson,jansson) $(call link_with,libpcre2-8,pcre2-8) $(call link_with,inih,inih) \
	$(call link_with,libiberty,iberty) $(call link_with,liblz4,lz4) $(call link_with,libzstd,zstd))$(static_libs)
pkg_cflags := $(foreach p,jansson libpcre2-8 inih liblz4 libzstd sqlite3,$(call pkg_config,--cflags $(p)))
# The command alone keeps a history. SQLITE_LIBS=-lsqlite3 links the shared library.
SQLITE_LIBS ?= $(call link_with,sqlite3,sqlite3)
system_libs = -lm -ldl -lpthread

core_rooms = base code profile metrics report check
hook_rooms = cuda hook graph gate launch memory counters
core_src = $(wildcard $(core_rooms:%=src/%/*.c))
hook_src = $(wildcard $(hook_rooms:%=src/%/*.c))
hook_asm = $(wildcard src/hook/*.S)
cli_src = $(wildcard src/cli/*.c src/history/*.c)
objects = $(patsubst src/%,$(O)/obj/%.o,$(1))

core_obj = $(call objects,$(core_src)) $(O)/obj/definitions.o $(O)/obj/rules.o $(O)/obj/roofs.o \
	$(O)/obj/page_head.o $(O)/obj/page_tail.o
hook_obj = $(call objects,$(hook_src) $(hook_asm)) $(O)/obj/device_image.o
cli_obj = $(call objects,$(cli_src))

library = $(O)/libgpuprof.so
command = $(O)/gpuprof
core = $(O)/libgpuprof-core.a
# The library for the unit tests, without the exported dlsym, which would be theirs too; and the command's
# questions to CUPTI.
hook_core = $(O)/libgpuprof-hook.a

.PHONY: man all unit sim sim-demo examples gpu-programs test test-long test-gpu test-page test-fresh mutants demo bench coverage fuzz install uninstall deb tarball wheel cuda-home \
	format lint formatted reference warnings clean help FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(library) $(command)

# ---- our own code ----------------------------------------------------------------------------
# A file that is written only where its text changes: the files that depend on it are then built again.
write_if_changed = @mkdir -p $(@D) && printf '%s\n' '$(subst ','\'',$(1))' > $@.new && \
	if cmp -s $@ $@.new; then rm $@.new; else mv $@.new $@; fi
# The settings that change the objects. Warnings do not.
$(O)/obj/flags: FORCE
	$(call write_if_changed,$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) SAN=$(SAN) COVERAGE=$(COVERAGE) $(CUDA))
# The other libraries that are linked.
$(O)/obj/linked: FORCE
	$(call write_if_changed,$(static_libs) $(SQLITE_LIBS))
# From the command's folder to the library's, where the command searches as well.
$(O)/obj/library_folder.h: FORCE
	$(call write_if_changed,#define GP_LIBRARY_FOLDER "$(shell realpath -m --relative-to='$(BINDIR)' '$(LIBDIR)')")
$(O)/obj/cli/run.c.o: $(O)/obj/library_folder.h
$(O)/obj/cli/run.c.o: private own_cflags = -include $(O)/obj/library_folder.h

# The commit, for `gpuprof --version`. COMMIT= is for builds from a copy of a clone (tools/make-deb).
COMMIT ?= $(shell tools/version --commit)
$(O)/obj/commit.h: FORCE
	$(call write_if_changed,#define GP_COMMIT "$(COMMIT)")
$(O)/obj/cli/main.c.o: $(O)/obj/commit.h
$(O)/obj/cli/main.c.o: private own_cflags = -include $(O)/obj/commit.h

# cupti_profiler_host.h includes the C++ header <string>; an empty one lets C read it.
$(O)/compat/string:
	@mkdir -p $(@D) && : > $@

$(O)/obj/%.c.o: src/%.c $(O)/obj/flags | $(O)/compat/string
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -MMD -MP -c $< -o $@

# dlsym is called before a sanitizer has its memory.
$(O)/obj/hook/dlsym.c.o $(O)/obj/hook/table.c.o $(O)/obj/hook/imports.c.o $(O)/obj/base/imports.c.o \
		$(O)/obj/cuda/driver.c.o: \
	san_flags = $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize=address -fno-sanitize=thread -fno-sanitize-recover=undefined)

$(O)/obj/%.S.o: src/%.S $(O)/obj/flags
	$(call say,AS,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -MMD -MP -c $< -o $@

# The shipped metric definitions, one text inside the library.
definitions = $(sort $(wildcard metrics/*.ini))
$(O)/obj/definitions.txt: $(definitions)
	@mkdir -p $(@D)
	$(Q)for f in $^; do printf '; file %s\n' "$$f"; cat "$$f"; done > $@

embed = printf '.section .rodata\n.balign 16\n.hidden %s\n.global %s\n%s:\n.incbin "%s"\n.hidden %s_end\n.global %s_end\n%s_end:\n.byte 0\n.section .note.GNU-stack,"",%%progbits\n' \
	$(1) $(1) $(1) $(2) $(1) $(1) $(1)
$(O)/obj/definitions.o: $(O)/obj/definitions.txt
	$(Q)$(call embed,gp_shipped_definitions,$<) | $(CC) -x assembler -c - -o $@

# The measured roofs of GPUs (tests/gpu/roofs).
$(O)/obj/roofs.txt: $(sort $(wildcard metrics/roofs/*.ini))
	@mkdir -p $(@D)
	$(Q)cat /dev/null $^ > $@
$(O)/obj/roofs.o: $(O)/obj/roofs.txt
	$(Q)$(call embed,gp_measured_roofs,$<) | $(CC) -x assembler -c - -o $@

# The page of `gpuprof report --html`, with the library that draws its charts.
CHART_JS ?= /usr/share/javascript/chart.js/chart.min.js
CHART_JS_LICENCE ?= /usr/share/doc/libjs-chart.js/copyright
$(O)/obj/chart_js: FORCE
	$(call write_if_changed,$(CHART_JS) $(CHART_JS_LICENCE))
$(O)/obj/page_head.html $(O)/obj/page_tail.html &: tools/make-page $(wildcard src/report/page/*) \
		$(O)/obj/chart_js $(wildcard $(CHART_JS) $(CHART_JS_LICENCE))
	$(call say,PAGE,src/report/page)
	@mkdir -p $(O)/obj
	$(Q)tools/make-page $(O)/obj $(CHART_JS) $(CHART_JS_LICENCE)
$(O)/obj/page_%.o: $(O)/obj/page_%.html
	$(Q)$(call embed,gp_page_$*,$<) | $(CC) -x assembler -c - -o $@

# The shipped rules for advice, likewise.
rules = $(sort $(wildcard metrics/rules/*.ini))
$(O)/obj/rules.txt: $(rules)
	@mkdir -p $(@D)
	$(Q)for f in $^; do printf '; file %s\n' "$$f"; cat "$$f"; done > $@
$(O)/obj/rules.o: $(O)/obj/rules.txt
	$(Q)$(call embed,gp_shipped_rules,$<) | $(CC) -x assembler -c - -o $@

# Our own kernels, for every chip this toolkit knows, and PTX for those it does not.
nvcc_arches = $(shell $(NVCC) --list-gpu-code 2>/dev/null | grep -x 'sm_[0-9]*')
newest_arch = $(lastword $(sort $(nvcc_arches:sm_%=%)))
oldest_arch = $(firstword $(sort $(filter 7% 8%,$(nvcc_arches:sm_%=%))))
device_gencode = $(foreach a,$(nvcc_arches:sm_%=%),-gencode arch=compute_$(a),code=sm_$(a)) \
	-gencode arch=compute_$(oldest_arch),code=compute_$(oldest_arch)
$(O)/obj/device.fatbin: src/memory/device.cu $(wildcard src/memory/*.cuh) src/memory/work.h
	$(call say,NVCC,$<)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -O3 -fatbin -I src $(device_gencode) -o $@ $<
$(O)/obj/device_image.o: $(O)/obj/device.fatbin Makefile
	$(Q)$(call embed,device_image,$<) | $(CC) -x assembler -c - -o $@

$(core): $(core_obj)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(library): $(hook_obj) $(core) $(O)/obj/linked
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(cov_flags) $(san_flags) -shared -o $@ $(hook_obj) $(core) $(static_libs) $(system_libs) \
		-Wl,-soname,libgpuprof.so -Wl,--exclude-libs,ALL -Wl,-Bsymbolic -Wl,-z,nodelete -Wl,--wrap=stdin -Wl,-z,relro -Wl,-z,now \
		$(if $(SAN),,-Wl,--no-undefined) -Wl,--as-needed

$(command): $(cli_obj) $(hook_core) $(core) $(O)/obj/linked
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(cov_flags) $(san_flags) -o $@ $(cli_obj) $(hook_core) $(core) $(SQLITE_LIBS) $(static_libs) $(system_libs) -Wl,--as-needed

# ---- examples and GPU programs ---------------------------------------------------------------
gencode = -gencode arch=compute_75,code=sm_75 -gencode arch=compute_80,code=sm_80 \
	-gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90
nvccflags = -O2 -lineinfo $(gencode) -Xcompiler -Wall
example_src = $(wildcard examples/*.cu)
example_names = $(example_src:examples/%.cu=%)
gpu_src = $(wildcard tests/gpu/programs/*.cu)
# Programs of the simulator that run on a GPU too, with the kernels of tests/gpu/kernels.cu.
gpu_shared = $(addprefix $(O)/tests/gpu/,alternating blocked overrun returns)
gpu_names = $(gpu_src:tests/gpu/programs/%.cu=%)
examples: $(example_names:%=$(O)/examples/%) $(example_names:%=$(O)/examples/%-shared)
bench_src = $(wildcard tests/gpu/bench_programs/*.cu)
bench_names = $(bench_src:tests/gpu/bench_programs/%.cu=%)
gpu-programs: examples $(gpu_names:%=$(O)/tests/gpu/%) $(gpu_shared) $(bench_names:%=$(O)/tests/gpu/bench/%) \
	$(O)/tests/gpu/libcupti_null.so

$(O)/examples/%-shared: examples/%.cu $(wildcard examples/*.h)
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(nvccflags) -cudart shared -o $@ $<
$(O)/examples/%: examples/%.cu $(wildcard examples/*.h)
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(nvccflags) -o $@ $<
$(O)/tests/gpu/%_drv: tests/gpu/programs/%_drv.cu $(wildcard examples/*.h tests/gpu/programs/*.h)
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(nvccflags) -I examples -o $@ $< -L$(CUDA)/lib64/stubs -lcuda
$(O)/tests/gpu/%_90a: tests/gpu/programs/%_90a.cu $(wildcard examples/*.h tests/gpu/programs/*.h)
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -O2 -lineinfo -gencode arch=compute_90a,code=sm_90a -Xcompiler -Wall -I examples -o $@ $<
$(O)/tests/gpu/%_rdc: tests/gpu/programs/%_rdc.cu $(wildcard examples/*.h tests/gpu/programs/*.h)
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(nvccflags) -I examples -rdc=true -o $@ $< -lcudadevrt
$(O)/tests/gpu/kernels.fatbin: tests/gpu/kernels.cu
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(nvccflags) -fatbin -o $@ $<
$(gpu_shared): $(O)/tests/gpu/%: tests/sim/programs/%_linked.c $(O)/tests/gpu/kernels.fatbin \
		$(wildcard tests/sim/*.h tests/sim/programs/*.h) | $(O)/compat/string
	$(call say,CC,$@)
	$(Q)$(CC) $(sim_programs_cflags) -DGPU_KERNELS='"$(abspath $(O))/tests/gpu/kernels.fatbin"' -o $@ $< \
		-L$(CUDA)/lib64/stubs -lcuda
$(O)/tests/gpu/%: tests/gpu/programs/%.cu $(wildcard examples/*.h tests/gpu/programs/*.h)
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(nvccflags) -I examples -o $@ $<

$(O)/tests/gpu/libcupti_null.so: tests/gpu/null_cupti.c $(O)/obj/flags | $(O)/compat/string
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -shared -o $@ $<

$(O)/tests/gpu/bench/%: tests/gpu/bench_programs/%.cu $(wildcard examples/*.h tests/gpu/bench_programs/*.h)
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(nvccflags) -I examples -o $@ $<

# ---- tests -----------------------------------------------------------------------------------
unit_names = $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c))
unit: $(unit_names:%=$(O)/unit/%)
$(hook_core): $(filter-out %/dlsym.S.o,$(hook_obj)) $(call objects,src/cli/chip.c)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^
$(O)/unit/%: tests/unit/%.c $(hook_core) $(core) $(O)/obj/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -O0 -MMD -MP -MF $@.d -MT $@ -iquote tests/unit -iquote tests -o $@ $< \
		$(hook_core) $(core) $(static_libs) -lcmocka $(system_libs)

# A cubin with line information, for the tests of line tables.
$(O)/tests/lines.cubin: tests/lines/lines.cu
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -O2 -lineinfo -cubin -arch=sm_$(or $(filter 90,$(nvcc_arches:sm_%=%)),$(oldest_arch)) -o $@ $<
$(O)/unit/test_code_lines $(O)/unit/test_report_stalls: $(O)/tests/lines.cubin
# Relocatable, so that calls through pointers stay such calls.
$(O)/tests/printing.%: tests/printing/printing.cu
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -rdc=true -$* $(if $(filter cubin,$*),-arch=sm_$(or $(filter 90,$(nvcc_arches:sm_%=%)),$(oldest_arch))) -o $@ $<
$(O)/unit/test_code_printing: $(O)/tests/printing.cubin $(O)/tests/printing.ptx
$(O)/tests/waits.%: tests/waits/waits.cu
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -$* -arch=$(if $(filter cubin,$*),sm,compute)_$(or $(filter 90,$(nvcc_arches:sm_%=%)),$(oldest_arch)) -o $@ $<
$(O)/unit/test_code_waits: $(O)/tests/waits.cubin $(O)/tests/waits.ptx
# For each generation whose encodings differ, if the toolkit knows it.
words_arches = $(filter 75 80 90 100 120,$(nvcc_arches:sm_%=%))
$(O)/tests/words.%.cubin: tests/words/words.cu
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -O2 -cubin -arch=sm_$* -o $@ $<
$(O)/unit/test_code_data_words $(O)/unit/test_code_address_words: $(words_arches:%=$(O)/tests/words.%.cubin)
$(O)/tests/products.%.cubin: tests/products/products.cu
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -O2 -cubin -arch=sm_$* -o $@ $<
$(O)/unit/test_code_products $(O)/unit/test_report_products $(O)/unit/test_report_sequences: $(words_arches:%=$(O)/tests/products.%.cubin)
$(O)/tests/causes.%.cubin: tests/causes/causes.cu
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -O2 -lineinfo -cubin -arch=sm_$* -o $@ $<
$(O)/unit/test_report_waits $(O)/unit/test_report_samples $(O)/unit/test_code_lines: $(words_arches:%=$(O)/tests/causes.%.cubin)

# The simulated GPU: a driver and a CUPTI for machines that have none.
sim_cflags = -std=gnu11 $(CFLAGS) $(san_flags) -fPIC -fno-strict-aliasing $(warnings) -D_GNU_SOURCE \
	-iquote tests/sim -iquote tests -iquote src -I $(O)/compat $(cuda_includes)
sim_objects = $(patsubst tests/sim/%.c,$(O)/obj/sim/%.o,$(wildcard $(1)))
sim_driver_obj = $(call sim_objects,tests/sim/driver/*.c tests/sim/model/*.c)
sim_cupti_obj = $(call sim_objects,tests/sim/cupti/*.c)
sim_libraries = $(patsubst tests/sim/programs/%_library.c,$(O)/sim/programs/lib%.so,$(wildcard tests/sim/programs/*_library.c))
sim_programs = $(patsubst tests/sim/programs/%.c,$(O)/sim/programs/%,$(filter-out %_library.c,$(wildcard tests/sim/programs/*.c)))
sim_tests = $(patsubst tests/sim/%.c,$(O)/sim/%,$(wildcard tests/sim/test_*.c))
# The part that `make demo` needs.
sim-demo: $(O)/sim/libcuda.so.1 $(O)/sim/libcupti.so.13 $(O)/sim/programs/snippets_linked
sim: $(O)/sim/libcuda.so.1 $(O)/sim/libcupti.so.13 $(sim_programs) $(sim_libraries) $(sim_tests) \
	$(O)/tests/gpu/libcupti_null.so

$(O)/obj/sim/%.o: tests/sim/%.c $(O)/obj/flags | $(O)/compat/string
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(sim_cflags) -MMD -MP -c $< -o $@
$(O)/sim/libcuda.so.1: $(sim_driver_obj)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(san_flags) -shared -Wl,-soname,libcuda.so.1 -Wl,-Bsymbolic -o $@ $^ $(system_libs)
	$(Q)ln -sf libcuda.so.1 $(@D)/libcuda.so
$(O)/sim/libnvperf_host.so: tests/sim/nvperf/host.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -fPIC $(warnings) -Wl,-soname,libnvperf_host.so -o $@ $<
$(O)/sim/libcupti.so.13: $(sim_cupti_obj) | $(O)/sim/libnvperf_host.so
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(san_flags) -shared -Wl,-soname,libcupti.so.13 -Wl,-Bsymbolic -o $@ $^ $(system_libs)
	$(Q)ln -sf libcupti.so.13 $(@D)/libcupti.so
# They call the driver, and compute nothing. Sanitizers are for the library, and for the calls between it
# and the simulator: the programs and the simulated kernels would only be slower with them. coroutine.c tells
# them of its stacks.
sim_programs_cflags = $(filter-out $(san_flags),$(sim_cflags)) -O0
sim_kernels_obj = $(filter-out %/coroutine.o,$(call sim_objects,tests/sim/model/*.c))
$(sim_kernels_obj): san_flags =
$(O)/sim/programs/tool_linked: $(O)/sim/libcupti.so.13
$(O)/sim/programs/tool_linked: more_libs = -Wl,--no-as-needed $(O)/sim/libcupti.so.13
$(O)/sim/programs/%_linked: tests/sim/programs/%_linked.c $(O)/sim/libcuda.so.1 $(O)/obj/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(sim_programs_cflags) -MMD -MP -MF $@.d -MT $@ -c -o $@.o $<
	$(Q)$(CC) $(san_flags) -o $@ $@.o -L$(O)/sim -lcuda $(more_libs) $(system_libs)
$(O)/sim/programs/lib%.so: tests/sim/programs/%_library.c $(O)/obj/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(sim_programs_cflags) -MMD -MP -MF $@.d -MT $@ -shared -o $@ $< $(system_libs)
$(O)/sim/programs/%: tests/sim/programs/%.c $(O)/obj/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(sim_programs_cflags) -MMD -MP -MF $@.d -MT $@ -c -o $@.o $<
	$(Q)$(CC) $(san_flags) -o $@ $@.o $(system_libs)
# The library's own reader of code finds the counts in the code of its kernels.
code_obj = $(call objects,src/base/cause.c src/code/instruction.c src/counters/instrumented.c)
$(O)/sim/test_%: tests/sim/test_%.c $(sim_driver_obj) $(code_obj)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(sim_cflags) -MMD -MP -MF $@.d -MT $@ -o $@ $< $(sim_driver_obj) $(code_obj) -lcmocka $(system_libs)

test:
	@tools/setup test
	@tools/run-tests $(O)

# The tests that take long. tools/run-tests has both lists.
test-long:
	@tools/setup test
	@tools/run-tests long $(O)

# The commands of the README on bare Debians. Root alone can make one.
test-fresh:
	@tools/setup fresh
	@tests/packages/fresh $(O)

# Breaks copies of the source on purpose: tests have to notice. MUTANTS picks some by name.
mutants:
	@tools/setup test
	@tests/mutants/run $(MUTANTS)

test-gpu:
	@tests/gpu/run $(O)

# The page of `gpuprof report --html` in a browser, with the tests that take longer than `make test` may.
test-page: all
	@tools/setup page
	@tests/page/run $(O)

# The CUDA toolkit that is used. Asked for anew: tools/setup may just have fetched it.
cuda-home:
	@realpath '$(CUDA)'

demo:
	@tools/setup build
	@+tools/demo $(O)

# BENCH_OUT is where its results go; BENCH_OPTIONS are for tests/gpu/bench.
bench:
	@tests/gpu/bench $(O) $(if $(BENCH_OUT),--out $(BENCH_OUT)) $(BENCH_OPTIONS)

# Every metric with its formulas, from the definitions alone.
reference: $(O)/metrics-reference.md
$(O)/metrics-reference.md: $(command)
	$(call say,MD,$@)
	$(Q)XDG_CONFIG_HOME=/nonexistent GPUPROF_METRICS_PATH= $(command) metrics --markdown > $@

# Line coverage of src/ by all tests that need no GPU.
coverage:
	@tools/setup coverage
	@tools/coverage $(O)-cov

# Fuzzes every parser of outside bytes, SECONDS each.
SECONDS ?= 60
fuzz:
	@tools/setup test
	@tests/fuzz/run $(SECONDS)

# Manual pages and completion, out of the command's own tables of options.
man: $(O)/man/gpuprof.1
$(O)/man/gpuprof.1: $(command) $(wildcard man/*.scd) tools/make-man
	$(call say,MAN,$(@D))
	$(Q)tools/make-man $(command) $(@D)

share = $(DESTDIR)$(PREFIX)/share
install: all man reference
	@case '$(LIBDIR)' in *[[:space:]:]*) \
		echo "make: LIBDIR=$(LIBDIR): the dynamic linker takes no library whose path has a blank or a colon in it" >&2; exit 1 ;; esac
	install -d '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(LIBDIR)' '$(share)/man/man1' \
		'$(share)/bash-completion/completions' '$(share)/zsh/site-functions' '$(share)/doc/gpuprof'
	install -m 755 $(command) '$(DESTDIR)$(BINDIR)/gpuprof'
	install -m 644 $(library) '$(DESTDIR)$(LIBDIR)/libgpuprof.so'
	install -m 644 $(O)/man/*.1 '$(share)/man/man1'
	install -m 644 $(O)/man/gpuprof.bash '$(share)/bash-completion/completions/gpuprof'
	install -m 644 $(O)/man/_gpuprof '$(share)/zsh/site-functions/_gpuprof'
	install -m 644 $(O)/metrics-reference.md '$(share)/doc/gpuprof/metrics-reference.md'
# A Debian package, in $(O)/deb.
deb:
	@tools/setup package
	@tools/make-deb $(O)

# A tarball for every distribution, in $(O)/tarball. Root alone can make one.
tarball:
	@tools/setup package
	@tools/make-tarball $(O)

# Python wheels for x86-64 and aarch64, in $(O)/wheel. Root alone can make them.
wheel:
	@tools/setup wheel
	@tools/make-wheel $(O)

uninstall:
	rm -f '$(DESTDIR)$(BINDIR)/gpuprof' '$(DESTDIR)$(LIBDIR)/libgpuprof.so' \
		'$(share)/man/man1'/gpuprof.1 '$(share)/man/man1'/gpuprof-*.1 '$(share)/bash-completion/completions/gpuprof' \
		'$(share)/zsh/site-functions/_gpuprof' '$(share)/doc/gpuprof/metrics-reference.md'

c_files = $(shell tools/list-files 'src/*.[ch]' 'src/*.def' 'include/*.h' 'tests/*.[ch]' | grep -v '\.def$$')
format:
	$(Q)clang-format -i $(c_files)
lint: formatted
	$(Q)tools/check-words
	$(Q)tools/check-style
	$(Q)tools/check-paths
	$(Q)tests/rooms
formatted:
	$(Q)clang-format --dry-run -Werror $(c_files)

# clang's warnings: it reads the source, and compiles nothing.
warnings: $(O)/obj/library_folder.h $(O)/obj/commit.h | $(O)/compat/string
	$(Q)printf '%s\n' $(core_src) $(hook_src) $(cli_src) | xargs -P "$$(nproc)" -n 16 clang $(all_cflags) \
		-include $(O)/obj/library_folder.h -include $(O)/obj/commit.h -fsyntax-only

clean:
	rm -rf $(O) $(O)-san $(O)-cov $(O)-fuzz $(O)-aarch64

help:
	@sed -n '3,14s/^# \{0,1\}//p' Makefile
	@echo 'all        library and command          test       the tests that need no GPU'
	@echo 'demo       profile an example           test-long  the tests that take long'
	@echo '                                        test-gpu   the tests that need a GPU (no rebuild)'
	@echo 'examples   the CUDA examples            gpu-programs  all that test-gpu runs'
	@echo 'bench      cost beside ncu (no rebuild)  install, uninstall  into PREFIX (/usr/local)'
	@echo 'format     clang-format in place        lint       clang-format, words, comments'
	@echo 'clean      remove the build folders     coverage   line coverage of src/ by make test'
	@echo 'deb        a Debian package             tarball    for any distribution (as root)'
	@echo 'wheel      for pip (as root)'
	@echo 'mutants    breaks the source on purpose: do the tests notice?'
	@echo 'fuzz       every parser, SECONDS=60 each  man        manual pages and completion'
	@echo 'reference  every metric with its formulas: metrics-reference.md in the build folder'
	@echo 'test-page  the page of report --html, in a browser'
	@echo 'test-fresh the commands of the README on bare Debians (as root)'

-include $(shell find $(O)/obj $(O)/unit $(O)/sim -name '*.d' 2>/dev/null)
