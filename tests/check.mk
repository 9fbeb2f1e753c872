# Targets of the tests, the demonstration and the benchmarks. Included by the Makefile; follows CC and MODE.
GUEST_SRCS := $(wildcard tests/guest/*.c)
GT := $(B)/tests/guest
TEST_CFLAGS := -std=gnu17 -O1 -g -Wall -Wextra -Werror -Wno-clobbered -Wno-unused-result -Wno-unused-parameter -Itests/lib
ifneq ($(findstring clang,$(CC)),)
TEST_CFLAGS := $(filter-out -Wno-clobbered,$(TEST_CFLAGS))
endif
# The first line of a source may ask for more than the dynamic glibc build.
variant = $(foreach s,$(GUEST_SRCS),$(if $(shell sed -n '1s/^.. variants:.* $(1) .*/x/p' $(s)),$(GT)/$(1)/$(notdir $(s:.c=))))
GUEST_BINS := $(GUEST_SRCS:tests/guest/%.c=$(GT)/dynamic/%) $(call variant,static) $(call variant,static-pie) $(call variant,musl)
ESCAPE_BINS := $(patsubst tests/escape/%.c,$(B)/tests/escape/%,$(wildcard tests/escape/*.c))

$(GT)/dynamic/%: tests/guest/%.c tests/lib/check.h
	@mkdir -p $(@D)
	@gcc $(TEST_CFLAGS) -o $@ $< -pthread -lutil
$(GT)/static/%: tests/guest/%.c tests/lib/check.h
	@mkdir -p $(@D)
	@gcc $(TEST_CFLAGS) -static -o $@ $< -pthread -lutil
$(GT)/static-pie/%: tests/guest/%.c tests/lib/check.h
	@mkdir -p $(@D)
	@gcc $(TEST_CFLAGS) -static-pie -fPIE -o $@ $< -pthread -lutil
$(GT)/musl/%: tests/guest/%.c tests/lib/check.h
	@mkdir -p $(@D)
	@musl-gcc $(TEST_CFLAGS) -static -o $@ $< -pthread
$(B)/tests/escape/%: tests/escape/%.c tests/escape/escape.h tests/lib/check.h
	@mkdir -p $(@D)
	@gcc $(TEST_CFLAGS) -Wno-stringop-overflow -Wno-array-bounds -I. -o $@ $< -pthread

# Unit tests: one Criterion program per tests/unit/X.c, linked with every object of the sentry but main.o. A test may define
# a function of the sentry anew: its own definition comes first and wins. What includes fsenv.h gets tests/lib/fsenv.c.
UNIT_SRCS := $(wildcard tests/unit/*.c)
UNIT_BINS := $(UNIT_SRCS:tests/unit/%.c=build/asan-$(notdir $(CC))/tests/unit/%)
ifeq ($(MODE),asan)
$(B)/tests/unit/%: tests/unit/%.c $(wildcard tests/lib/*.[ch]) $(filter-out %/sentry/main.o,$(OBJS))
	@mkdir -p $(@D)
	$(call Q,TEST)$(CC) $(CPPFLAGS) $(CFLAGS_COMMON) $(CFLAGS_asan) -Wno-format-truncation $(CFLAGS) -Itests/lib -o $@ $< $(shell grep -l 'fsenv\.h' $<  /dev/null | sed 's,.*,tests/lib/fsenv.c,') \
		-Wl,--allow-multiple-definition $(filter %.o,$^) $(LDFLAGS_asan) $(LDFLAGS) -lcriterion $(LDLIBS)
unit-bins: $(UNIT_BINS)
else
unit-bins:
	$(MAKE) MODE=asan unit-bins
endif
.PHONY: unit-bins guest-bins check-unit check-guest check-programs check-escape check-cli check-layers
guest-bins: $(GUEST_BINS) $(ESCAPE_BINS)

RUN := MODE=$(MODE) CC=$(CC) B=$(B) tests/run
check: all unit-bins guest-bins
	@$(RUN) layers unit guest escape cli programs
check-unit: unit-bins $(GEN)
	@$(RUN) unit
check-guest: all guest-bins
	@$(RUN) guest
check-programs: all
	@$(RUN) programs
check-escape: all guest-bins
	@$(RUN) escape
check-cli: all
	@$(RUN) cli
check-layers: $(GEN)
	@$(RUN) layers

demo:
	@tests/demo/demo.sh
