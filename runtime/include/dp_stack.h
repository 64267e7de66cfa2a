/* Work on a stack of its own: passes and interpreters recurse as deep as a program is nested or recurses, and OpenCL's
 * compilers as they please, which the stack that the system gives a process (`ulimit -s`) need not bear. */
#ifndef DP_STACK_H
#define DP_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* `stack_end`: the lowest address where a call may begin; behind it there is room for what runs between two looks. */
typedef void DpStackWork(void *data, uintptr_t stack_end);

/* Runs work(data) on a thread with 1 GB of stack (address space: only what is used gets memory), a part of what a limit
 * on that leaves, or with less where the system is short of it. False if there is no thread to be had: nothing ran. */
bool dp_stack_run(DpStackWork *work, void *data);

/* For threads that others make (OpenCL's) and for processes begun from here: the usual 8 MB at least, as far as the
 * system allows it. */
void dp_stack_prepare(void);

/* Bytes of address space that a limit (`ulimit -v`) leaves; UINT64_MAX without one. */
uint64_t dp_address_space_left(void);

/* Is the caller's frame beyond stack_end? Stacks grow downwards on everything we run on. */
#if defined(__GNUC__)
static inline bool dp_stack_is_full(uintptr_t stack_end) { return (uintptr_t)__builtin_frame_address(0) < stack_end; }
#else
static inline bool dp_stack_is_full(uintptr_t stack_end) { return (uintptr_t)&stack_end < stack_end; }
#endif

#endif
