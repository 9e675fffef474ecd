/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/text_records.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "target/text_copy.h"

struct telling {
	pid_t pid;
	uint64_t id;
	text_record_sink sink;
	void *ctx;
	int count, error;
};

static int tell(void *ctx, const struct bobbin_mapping *mapping)
{
	struct telling *t = ctx;
	struct perf_event event = {
		.type = PERF_RECORD_MMAP2,
		.misc = PERF_RECORD_MISC_USER,
		.pid = (uint32_t)t->pid,
		.tid = (uint32_t)t->pid,
		.id = t->id,
		.mmap =
			{
				.addr = mapping->start,
				.len = mapping->end - mapping->start,
				.pgoff = mapping->offset,
				.maj = mapping->major,
				.min = mapping->minor,
				.ino = mapping->ino,
				.prot = PROT_READ | PROT_EXEC,
				.flags = MAP_PRIVATE,
				.build_id_len = mapping->build_id_len,
				.filename = mapping->path,
			},
	};

	memcpy(event.mmap.build_id, mapping->build_id, sizeof(mapping->build_id));
	t->error = t->sink(t->ctx, &event);
	t->count++;
	return t->error ? -1 : 0;
}

int text_records(const struct remote_process *process, uint64_t id, text_record_sink sink,
		 void *ctx)
{
	struct telling t = {.pid = process->pid, .id = id, .sink = sink, .ctx = ctx};
	int r = text_copies_find(process, tell, &t);

	if (t.error || r == -ENOMEM)
		return t.error ? t.error : r;
	return t.count;
}
