/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* make_recording FILE - write a recording of itself, so that a test needs no right to record. */
#include "own_recording.h"

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	own_recording_write(argv[1]);
	return 0;
}
