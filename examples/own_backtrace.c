/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* own_backtrace - print the own call chain, and which table led from each frame to its caller. */
#include <bobbin/backtrace.h>
#include <inttypes.h>
#include <stdio.h>

static void print_stack(void)
{
	struct bobbin_frame frames[64];
	struct bobbin_trace trace = {.frames = frames, .max = 64};

	bobbin_backtrace_here(&trace);
	for (uint32_t i = 0; i < trace.count; i++)
		printf("0x%016" PRIx64 " %s\n", frames[i].pc, bobbin_source_str(frames[i].source));
	printf("%s\n", bobbin_reason_str(trace.reason));
}

int main(void)
{
	print_stack();
	return 0;
}
