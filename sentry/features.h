/* WARD_FEATURES=-landlock,-syncwake,...: pretend that the host lacks a feature, to test every fallback. */
#ifndef WARD_FEATURES_H
#define WARD_FEATURES_H
#include <stdbool.h>

/* True when NAME was switched off. The variable is read once. */
bool feature_off(const char *name);
#endif
