/* Reading UTF-8 that may be broken. */
#ifndef DPC_UTF8_H
#define DPC_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the valid sequence at the start of s[0..n), its code point in *code; 0 where there is
 * none (overlong forms, surrogates and truncated sequences are not valid). */
size_t utf8_decode(const char *s, size_t n, uint32_t *code);

/* Whether a terminal shows the character as one visible thing: no control characters, nothing that
 * turns the direction of text around. */
bool utf8_is_printable(uint32_t code);

#endif
