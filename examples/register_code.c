/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * register_code - make a function while the program runs, and walk through it.
 *
 * Registered with its rows, code without a frame pointer and a file is unwound in this process, and
 * by `bobbin record` and `bobbin stack` in others.  examples/jit is a compiler that does so.
 */
#include <bobbin/backtrace.h>
#include <bobbin/jit.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef void made_function(struct bobbin_trace *trace, void (*walk)(struct bobbin_trace *));

int main(void)
{
	/* sub $24, %rsp; call *%rsi; add $24, %rsp; ret */
	static const char code[] = "\x48\x83\xec\x18\xff\xd6\x48\x83\xc4\x18\xc3";
	void *at = mmap(NULL, 16, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANON, -1,
			0);
	const struct bobbin_arch *arch = bobbin_arch_amd64();
	/* from which byte on the CFA is so far from the stack pointer */
	const struct bobbin_sframe_row rows[] = {{0, bobbin_jit_rule_sp(arch, 8, 0, 0)},
						 {4, bobbin_jit_rule_sp(arch, 32, 0, 0)},
						 {10, bobbin_jit_rule_sp(arch, 8, 0, 0)}};
	/* no block that repeats, no signal frame */
	const struct bobbin_sframe_function function = {(uintptr_t)at, 11, 0, false, rows, 3};
	struct bobbin_frame frames[64];
	struct bobbin_trace trace = {.frames = frames, .max = 64};
	struct bobbin_jit_code *registered;

	if (bobbin_jit_code_open(arch, &function, 1, &registered))
		return 1;
	((made_function *)memcpy(at, code, sizeof(code)))(&trace, bobbin_backtrace_here);
	bobbin_jit_code_close(registered);
	return printf("unwound by its %s\n", bobbin_source_str(frames[0].source)) < 0;
}
