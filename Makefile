# ward: make | make check | make demo | make bench | make install PREFIX=/usr/local
# MODE=rel (default) | dbg | asan | fuzz; CC=gcc | clang; WIP=1 links although symbols are missing (development only)
MODE ?= rel
CC = gcc
PREFIX ?= /usr/local
B := build/$(MODE)-$(notdir $(CC))
WARN := -Wall -Wextra -Werror -Wno-unused-parameter -Wno-missing-field-initializers -Wno-sign-compare
CPPFLAGS += -I. -I$(B)/gen -D_GNU_SOURCE
ifneq ($(findstring clang,$(CC)),)
WARN += -Wno-unknown-warning-option -Wno-unused-command-line-argument -Wno-gnu-variable-sized-type-not-at-end
INIT := -enable-trivial-auto-var-init-zero-knowing-it-will-be-removed-from-clang
else
WARN += -Wno-dangling-pointer
endif
CFLAGS_COMMON := -std=gnu17 -g $(WARN) -fno-strict-aliasing
HARDEN = $(INIT) -fstack-protector-strong -ftrivial-auto-var-init=zero -fcf-protection=none -fPIE
CFLAGS_rel = -O2 -D_FORTIFY_SOURCE=2 $(HARDEN)
CFLAGS_dbg = -O0 -DWARD_DEBUG $(HARDEN)
CFLAGS_asan := -O1 -DWARD_DEBUG -DWARD_ASAN -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -fPIE
CFLAGS_fuzz := $(CFLAGS_asan) -fsanitize=fuzzer-no-link
LDFLAGS_rel := -pie -Wl,-z,relro,-z,now
LDFLAGS_dbg := -pie
LDFLAGS_asan := -pie -fsanitize=address,undefined
LDFLAGS_fuzz := $(LDFLAGS_asan)
CFLAGS ?=
LDLIBS := -l:libjansson.a -lm
ifdef WIP
CFLAGS_COMMON += -DWARD_WIP -Wno-error
LDFLAGS_$(MODE) := $(filter-out -pie -Wl%,$(LDFLAGS_$(MODE))) -no-pie -Wl,--unresolved-symbols=ignore-all
endif

# V=1 shows the commands.
ifndef V
Q = @echo "  $(1)  $@";
endif
SRCS := $(filter-out sentry/platform/trap/stub/% %_gen.c,$(shell find $(wildcard sentry syscalls fs net loader) -name '*.c' | sort))
OBJS := $(SRCS:%.c=$(B)/%.o) $(B)/stub.o
STUB_SRCS := $(wildcard sentry/platform/trap/stub/*.c sentry/platform/trap/stub/*.S)
GEN := $(B)/gen/stub_filter.h $(B)/gen/confine_filter.h

.PHONY: all check demo bench bench-quick install clean
# build/ward is what was asked for last.
all: $(B)/ward
	@ln -sfn $(notdir $(B))/ward build/ward

$(B)/ward: $(OBJS)
	$(call Q,LD)$(CC) $(LDFLAGS_$(MODE)) $(LDFLAGS) -o $@ $(OBJS) $(LDLIBS)

$(B)/%.o: %.c | $(GEN)
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(CPPFLAGS) $(CFLAGS_COMMON) $(CFLAGS_$(MODE)) $(CFLAGS) -MMD -MP -c -o $@ $<

# Generators run at build time: the filters are compiled by libseccomp and embedded as BPF.
$(B)/gen/%_filter.h: $(B)/gen/%_gen
	$< > $@.tmp && mv $@.tmp $@
$(B)/gen/stub_gen: sentry/platform/trap/filter_gen.c $(wildcard sentry/platform/trap/*.h)
	@mkdir -p $(@D)
	$(call Q,GEN)$(CC) -I. -D_GNU_SOURCE -std=gnu17 -O1 -Wall -Wextra -Werror -Wno-missing-field-initializers -o $@ $< -lseccomp
$(B)/gen/confine_gen: sentry/platform/confine_gen.c $(wildcard sentry/platform/*.h sentry/platform/*.def)
	@mkdir -p $(@D)
	$(call Q,GEN)$(CC) -I. -D_GNU_SOURCE -std=gnu17 -O1 -Wall -Wextra -Werror -Wno-missing-field-initializers -o $@ $< -lseccomp

# The stub: freestanding, static, general registers only, at a fixed address; embedded as bytes.
STUB_CFLAGS := -std=gnu17 -O2 -g0 $(WARN) -ffreestanding -fno-pic -mcmodel=large -fno-stack-protector -mgeneral-regs-only \
	-fno-builtin -fno-tree-loop-distribute-patterns -fcf-protection=none -fno-asynchronous-unwind-tables -mno-red-zone \
	-fomit-frame-pointer
ifneq ($(findstring clang,$(CC)),)
STUB_CFLAGS := $(filter-out -fno-tree-loop-distribute-patterns,$(STUB_CFLAGS)) -fno-vectorize
endif
$(B)/stub.elf: $(STUB_SRCS) $(wildcard sentry/platform/trap/*.h sentry/platform/trap/stub/*.h sentry/platform/trap/stub/*.lds syscalls/*.def) $(B)/gen/stub_filter.h
	$(call Q,STUB)$(CC) $(CPPFLAGS) $(STUB_CFLAGS) -nostdlib -static -no-pie -Wl,--build-id=none -Wl,-z,noexecstack \
		-Wl,-T,sentry/platform/trap/stub/stub.lds -o $@ $(STUB_SRCS)
$(B)/stub.o: $(B)/stub.elf
	$(call Q,BLOB)printf '.section .rodata\n.global stub_elf\n.global stub_elf_end\n.balign 16\nstub_elf:\n.incbin "%s"\nstub_elf_end:\n.section .note.GNU-stack,"",@progbits\n' $< | $(CC) -x assembler -c -o $@ -

install: all
	install -D -m 755 $(B)/ward $(DESTDIR)$(PREFIX)/bin/ward
	install -D -m 644 ward.1 $(DESTDIR)$(PREFIX)/share/man/man1/ward.1

clean:
	rm -rf build

include tests/check.mk
include bench/bench.mk
-include $(OBJS:.o=.d)
