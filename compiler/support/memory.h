/* Memory that is there, or the process ends with a message and EXIT_MEMORY: there is nothing a compiler can do about
 * it. What evaluators take for a program's values is another matter: they fail with a place (core_eval.h, flat_eval.h).
 */
#ifndef DPC_MEMORY_H
#define DPC_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

_Noreturn void memory_out(void);
/* In a library the process goes on: runs work(data), and says whether memory sufficed. Where it did not, the work has
 * ended in the middle, and what it had allocated outside of arenas is lost. */
bool memory_guard(void (*work)(void *data), void *data);
void *memory_alloc(size_t n, size_t bytes); /* n zeroed elements; free() them */
void *memory_resize(void *at, size_t n, size_t bytes);

#endif
