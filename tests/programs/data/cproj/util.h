int fib(int n);
unsigned hash(const char *s);
void put(const char *name, long v);
