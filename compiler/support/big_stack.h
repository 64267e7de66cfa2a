/* Work on a stack of its own: passes and interpreters recurse as deep as a program is nested or recurses, which the stack
 * that the system gives a process need not bear. */
#ifndef DPC_BIG_STACK_H
#define DPC_BIG_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* `stack_end`: the lowest address where a call may begin; behind it there is room for what runs between two looks. */
typedef void StackWork(void *data, uintptr_t stack_end);

/* Runs work(data) on a thread with 1 GB of stack (address space: only what is used gets memory), or with less where the
 * system is short of it. False if there is no thread to be had: nothing ran. */
bool big_stack_run(StackWork *work, void *data);

/* Is the caller's frame beyond stack_end? Stacks grow downwards on everything we run on. */
#if defined(__GNUC__)
static inline bool stack_is_full(uintptr_t stack_end) { return (uintptr_t)__builtin_frame_address(0) < stack_end; }
#else
static inline bool stack_is_full(uintptr_t stack_end) { return (uintptr_t)&stack_end < stack_end; }
#endif

#endif
