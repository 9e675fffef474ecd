/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * zero_caller MS [returns|leaves|part] - compute on a stack of its own whose first function was not
 * called: its return address is 0.  Libraries of coroutines do so.
 *
 * returns: the function has a return.  leaves: it ends with a jump to wherever a register says.  part:
 * on the usual stack, in what only its table takes for a function: it is jumped to with a zero above
 * the return address.
 */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "spin.h"

static uint64_t words[8192] __attribute__((aligned(16)));
static long ms;

static __attribute__((noreturn, used)) void coroutine(void)
{
	spin(ms);
	exit(0);
}

static __attribute__((used)) void coroutine_that_returns(void)
{
	spin(ms);
	if (ms)
		exit(0);
}

static __attribute__((noreturn, used)) void coroutine_that_leaves(void)
{
	spin(ms);
	__asm__ volatile("xor %%edi, %%edi\n\tjmp *%0" : : "r"(_exit) : "rdi");
	__builtin_unreachable();
}

static __attribute__((used)) void spin_in_part(void)
{
	spin(ms);
	NO_TAIL_CALL();
}

__asm__(".text\n"
	".type zero_above, @function\n"
	"zero_above:\n"
	".cfi_startproc\n"
	"	push $0\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	jmp part\n"
	".cfi_endproc\n"
	".size zero_above, . - zero_above\n"
	".type part, @function\n"
	"part:\n"
	".cfi_startproc\n"
	"	call spin_in_part\n"
	"	add $8, %rsp\n"
	"	ret\n"
	".cfi_endproc\n"
	".size part, . - part\n");
void zero_above(void);

static NOINLINE int part_of_function(void)
{
	zero_above();
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t *top = words + sizeof(words) / sizeof(*words) - 2;
	const char *how = argc > 2 ? argv[2] : "";

	ms = ms_argument(argc, argv);
	if (!strcmp(how, "part"))
		return part_of_function();
	*--top = 0;
	__asm__ volatile("mov %0, %%rsp\n\tjmp *%1"
			 :
			 : "r"(top), "r"(!strcmp(how, "returns")  ? coroutine_that_returns
					 : !strcmp(how, "leaves") ? coroutine_that_leaves
								  : coroutine)
			 : "memory");
	__builtin_unreachable();
}
