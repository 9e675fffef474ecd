/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* thread_stack TID - print the call chain of a thread of another process, for addr2line(1). */
#include <bobbin/process.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct bobbin_frame frames[128];
	struct bobbin_trace trace = {.frames = frames, .max = 128};
	int tid = argc == 2 ? atoi(argv[1]) : 0;
	struct bobbin_process *process;
	struct bobbin_place_info place;

	if (bobbin_process_open(tid, NULL, &process))
		return 1;
	if (bobbin_process_unwind(process, tid, &trace))
		return 1;
	for (uint32_t i = 0; i < trace.count; i++)
		if (!bobbin_space_find(bobbin_process_space(process),
				       bobbin_frame_lookup_pc(&frames[i]), &place))
			printf("%s+0x%" PRIx64 "\n", place.mapping.path, place.file_offset);
	printf("%s\n", bobbin_reason_str(trace.reason));
	bobbin_process_close(process);
	return 0;
}
