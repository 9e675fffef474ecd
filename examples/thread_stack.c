/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * thread_stack TID - print the call chain of a thread of another process.
 *
 * Each frame has its address, and the file and offset from which addr2line(1) makes a
 * function and a line.
 */
#include <bobbin/process.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_frame(struct bobbin_process *process, const struct bobbin_frame *frame)
{
	/* a return address may be the start of the next function */
	uint64_t addr = bobbin_frame_lookup_pc(frame);
	struct bobbin_place_info place;

	if (bobbin_space_find(bobbin_process_space(process), addr, &place))
		printf("0x%016" PRIx64 "\n", frame->pc);
	else
		printf("0x%016" PRIx64 " %s+0x%" PRIx64 "\n", frame->pc, place.mapping.path,
		       place.file_offset);
}

int main(int argc, char **argv)
{
	struct bobbin_frame frames[128];
	struct bobbin_trace trace = {.frames = frames, .max = 128};
	int tid = argc == 2 ? atoi(argv[1]) : 0;
	struct bobbin_process *process;
	int r;

	r = bobbin_process_open(tid, NULL, &process);
	if (!r) {
		r = bobbin_process_unwind(process, tid, &trace);
		for (uint32_t i = 0; !r && i < trace.count; i++)
			print_frame(process, &frames[i]);
		bobbin_process_close(process);
	}
	if (r)
		fprintf(stderr, "thread_stack: %d: %s\n", tid, strerror(-r));
	else
		printf("%s\n", bobbin_reason_str(trace.reason));
	return r != 0;
}
