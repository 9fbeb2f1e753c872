# Targets of the tests, the demonstration and the benchmarks.
check: all
	@echo "no tests yet"; false
