/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as a recording, through the public calls.
 *
 * Contract: opening and reading end in bounded time; a refusal has a reason and an offset inside
 * the file; each sample has a frame, names for it, and strings that end; mappings are ascending and
 * hold their addresses.
 */
#include <bobbin/recording.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../tests/promise.h"
#include "base/file_range.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Frames whose names are asked for, and in one of how many inputs: another process is forked for them. */
#define NAMED 4
#define NAMED_INPUTS 16

static void check_refusal(int r, const struct bobbin_error *err, size_t size)
{
	promise(r == -EBADMSG || r == -ENOMEM);
	promise(r == -ENOMEM || err->reason > BOBBIN_REASON_NONE);
	promise(err->reason < BOBBIN_REASON_COUNT && err->offset <= size);
}

static void check_mappings(struct bobbin_recording *recording)
{
	struct bobbin_mapping mapping;
	uint64_t end = 0;
	size_t count = 0;

	while (!bobbin_recording_mapping(recording, count, &mapping)) {
		promise(mapping.start >= end && mapping.start < mapping.end && mapping.path);
		promise(mapping.build_id_len <= sizeof(mapping.build_id));
		end = mapping.end;
		count++;
	}
}

static void check_names(struct bobbin_recording *recording, const struct bobbin_frame *frame)
{
	const struct bobbin_name *name = bobbin_recording_name(recording, frame, 0);
	size_t count = 0;

	promise(name);
	for (; name; name = bobbin_recording_name(recording, frame, ++count)) {
		promise(name->file && strlen(name->file) < SIZE_MAX);
		promise(!name->function || strlen(name->function) < SIZE_MAX);
	}
}

static void check_frame(struct bobbin_recording *recording, const struct bobbin_frame *frame)
{
	uint64_t addr = bobbin_frame_lookup_pc(frame);
	struct bobbin_place_info place;

	/* later versions have others */
	promise(bobbin_source_str(frame->source));
	if (frame->kernel || bobbin_recording_find(recording, addr, &place))
		return;
	promise(addr >= place.mapping.start && addr < place.mapping.end);
}

static void check_sample(struct bobbin_recording *recording, const struct bobbin_sample *sample,
			 size_t *named)
{
	promise(sample->count && sample->period);
	promise(sample->event && sample->comm && bobbin_reason_str(sample->reason));
	check_mappings(recording);
	for (size_t i = 0; i < sample->count; i++) {
		check_frame(recording, &sample->frames[i]);
		if (*named == NAMED)
			continue;
		check_names(recording, &sample->frames[i]);
		(*named)++;
	}
}

static void read_samples(struct bobbin_recording *recording, const uint8_t *data, size_t size)
{
	const struct bobbin_sample *sample;
	struct bobbin_error err;
	size_t named = data[size - 1] % NAMED_INPUTS ? NAMED : 0;
	int r;

	while ((r = bobbin_recording_next(recording, &err, &sample)) != 0) {
		if (r < 0)
			check_refusal(r, &err, size);
		else
			check_sample(recording, sample, &named);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bobbin_recording *recording;
	struct bobbin_error err = {0};
	char path[32];
	int fd = memfd_create("recording", MFD_CLOEXEC), r;

	promise(fd >= 0 && !file_range_write(fd, 0, data, size));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = bobbin_recording_open(path, NULL, &err, &recording);
	close(fd);
	if (r) {
		check_refusal(r, &err, size);
		return 0;
	}
	read_samples(recording, data, size);
	bobbin_recording_close(recording);
	return 0;
}
