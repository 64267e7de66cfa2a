/* Spelling: what the emitters of kernels and of the host program share. The same text means the same in
 * both languages (runtime/include/dp_scalar.h sees to that). */
#ifndef DPC_PLAN_EMIT_TEXT_H
#define DPC_PLAN_EMIT_TEXT_H

#include "core/core.h"

/* "dp_i32": the type of a value. */
const char *emit_type_name(Scalar s);
/* "DP_I32": the runtime's enumerator. */
const char *emit_scalar_tag(Scalar s);
/* Bytes that a value of the type takes in memory: views take 16. */
uint32_t emit_bytes(CoreType t);
/* Bytes of one element of an array type. */
uint32_t emit_element_bytes(CoreType array);
/* A constant, exactly, with its own type. */
void emit_literal(StrBuf *out, Scalar s, uint64_t bits);
/* The characters of `text` that may stand in an identifier; others become '_'. */
void emit_identifier(StrBuf *out, const char *text);
/* "prefix" number "_hint", or without the hint where there is none. */
void emit_name(StrBuf *out, const char *prefix, uint32_t number, const char *hint);
/* A C string literal. No trigraphs, and no escape runs into the next character. */
void emit_string(StrBuf *out, const char *text, size_t n);
/* A longer text, one literal a line. */
void emit_string_lines(StrBuf *out, const char *text, size_t n, int depth);

#endif
