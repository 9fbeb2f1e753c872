# The measurements: make bench (some minutes) and make bench-quick (below a minute). See bench/README.md.
BENCH_DIR := $(B)/bench
BENCH_BINS := $(BENCH_DIR)/percall $(BENCH_DIR)/percall-musl $(BENCH_DIR)/true-static

.PHONY: bench bench-quick bench-bins
bench-bins: $(BENCH_BINS)
$(BENCH_DIR)/percall: bench/percall.c
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -D_GNU_SOURCE -O2 -Wall -o $@ $< -lpthread
$(BENCH_DIR)/percall-musl: bench/percall.c
	@mkdir -p $(@D)
	musl-gcc -std=gnu17 -D_GNU_SOURCE -O2 -Wall -idirafter /usr/include -idirafter /usr/include/x86_64-linux-gnu -static -o $@ $<
$(BENCH_DIR)/true-static: bench/true.c
	@mkdir -p $(@D)
	musl-gcc -O2 -static -o $@ $<

bench: all bench-bins
	/usr/bin/python3 bench/run.py --ward build/ward --bins $(BENCH_DIR)
bench-quick: all bench-bins
	/usr/bin/python3 bench/run.py --ward build/ward --bins $(BENCH_DIR) --quick
