/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* musl_calls - how many callers two calls find from main() > outer() > inner(): "NAME: right", a line each. */
#include <stdio.h>
#include <unwind.h>

#include "spin.h"

#define MOST 64

int backtrace(void **buffer, int size);

static void *pcs[MOST];
static int count;

static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *unused)
{
	(void)unused;
	if (count < MOST)
		pcs[count++] = (void *)_Unwind_GetIP(context);
	return _URC_NO_REASON;
}

static NOINLINE void inner(int by_unwinder)
{
	count = 0;
	if (by_unwinder)
		_Unwind_Backtrace(note, NULL);
	else
		count = backtrace(pcs, MOST);
	NO_TAIL_CALL();
}

static NOINLINE void outer(int by_unwinder)
{
	inner(by_unwinder);
	NO_TAIL_CALL();
}

/* Whether an address is in a function that begins at @start. */
static int is_in(int i, void *start)
{
	return i < count && (char *)pcs[i] - (char *)start > 0 &&
	       (char *)pcs[i] - (char *)start < 256;
}

int main(void)
{
	static const char *const names[] = {"backtrace", "_Unwind_Backtrace"};

	for (int i = 0; i < 2; i++) {
		outer(i);
		printf("%s: %s\n", names[i],
		       is_in(0, (void *)inner) && is_in(1, (void *)outer) &&
				       is_in(2, (void *)main) && count >= 4
			       ? "right"
			       : "wrong");
	}
	return 0;
}
