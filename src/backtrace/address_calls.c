/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The calls that fill an array of addresses: of the C library, libunwind, abseil and Go. */
#include <bobbin/backtrace.h>

#include "backtrace/stack_addresses.h"
#include "core/deps.h"
#include "unwind/assembly.h"

/* As many more frames does abseil count that found no room. */
#define DROPPED_MAX 200

/* The caller's chain, which begins where the function that this is inlined into was called. */
static BOBBIN_ALWAYS_INLINE void addresses_here(struct stack_addresses *ret)
{
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct walk_place place = {0};
	struct bobbin_regs caller = here_caller();

	here_regs(gpr, &place.regs);
	bobbin_stack_addresses(&place, &caller, ret);
}

static void addresses_of_context(const void *ucontext, struct stack_addresses *ret)
{
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct walk_place place = {0};

	bobbin_context_regs(ucontext, gpr, &place.regs);
	bobbin_stack_addresses(&place, NULL, ret);
}

/* execinfo.h, which not every C library has. */
BOBBIN_API int backtrace(void **buffer, int size);

BOBBIN_API int backtrace(void **buffer, int size)
{
	struct stack_addresses s = {.addresses = buffer, .max = size > 0 ? (size_t)size : 0};

	addresses_here(&s);
	return (int)s.count;
}

/* libunwind.h */
BOBBIN_API int unw_backtrace(void **buffer, int size);
BOBBIN_API int unw_backtrace2(void **buffer, int size, void *context, int flags);

BOBBIN_API int unw_backtrace(void **buffer, int size)
{
	struct stack_addresses s = {.addresses = buffer, .max = size > 0 ? (size_t)size : 0};

	addresses_here(&s);
	return (int)s.count;
}

/* @flags say whether a signal has interrupted the context: its PC is exact in either case. */
BOBBIN_API int unw_backtrace2(void **buffer, int size, void *context, int flags)
{
	struct stack_addresses s = {.addresses = buffer, .max = size > 0 ? (size_t)size : 0};

	(void)flags;
	if (context)
		addresses_of_context(context, &s);
	else
		addresses_here(&s);
	return (int)s.count;
}

/* What abseil gives as a size where it knows none. */
static void no_sizes(int *sizes, size_t count)
{
	for (size_t i = 0; sizes && i < count; i++)
		sizes[i] = 0;
}

BOBBIN_API int bobbin_stack_unwinder(void **result, int *sizes, int max_depth, int skip_count,
				     const void *ucontext, int *min_dropped_frames)
{
	struct stack_addresses s = {.addresses = result,
				    .max = max_depth > 0 ? (size_t)max_depth : 0,
				    .skip = skip_count > 0 ? (size_t)skip_count : 0,
				    .more_max = min_dropped_frames ? DROPPED_MAX : 0};

	/* the walk passes the signal's frame and comes to it */
	(void)ucontext;
	addresses_here(&s);
	no_sizes(sizes, s.count);
	if (min_dropped_frames)
		*min_dropped_frames = (int)s.more;
	return (int)s.count;
}

BOBBIN_API void bobbin_cgo_traceback(struct bobbin_cgo_traceback *traceback)
{
	struct stack_addresses s = {
		.addresses = (void **)traceback->buffer, .max = traceback->max, .tables = true};

	if (traceback->signal_context)
		addresses_of_context((const void *)traceback->signal_context, &s);
	else
		addresses_here(&s);
	if (s.count < s.max)
		traceback->buffer[s.count] = 0;
}
