/* The smallest program: what is left of a start is the start itself. */
int main(void) { return 0; }
