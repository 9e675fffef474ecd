/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "own_recording.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../promise.h"
#include "base/proc_maps.h"
#include "elf/elf_image.h"
#include "profile/perf_format.h"
#include "profile/perf_writer.h"

#define KERNEL_PC 0xffffffff81000000

static const uint64_t ids[] = {10};
static const struct sample_event cpu_clock = {
	.attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK},
	.name = "cpu-clock",
	.ids = ids,
	.nr_ids = 1,
};

/* Where it is in this program is what the recording says of a sample. */
static __attribute__((noinline)) int sampled_function(int n)
{
	return n * 7 + getpid();
}

uint64_t own_recording_pc(void)
{
	int (*function)(int) = sampled_function;

	return (uint64_t)(uintptr_t)function + 1;
}

static int take_own_code(void *ctx, const struct proc_map *map)
{
	uint64_t pc = own_recording_pc();

	if (pc < map->start || pc >= map->end)
		return 0;
	*(struct perf_mmap *)ctx = (struct perf_mmap){
		.addr = map->start,
		.len = map->end - map->start,
		.pgoff = map->offset,
		.prot = 5,
		.filename = strdup(map->path),
	};
	return 1;
}

/* The caller frees its name. */
static struct perf_mmap own_code(void)
{
	const struct remote_process self = {.pid = getpid()};
	struct perf_mmap mmap = {0};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	promise(proc_maps_read(&self, take_own_code, &mmap) == 1);
	promise(!elf_build_id(fd, mmap.build_id, &mmap.build_id_len));
	close(fd);
	return mmap;
}

static void put(struct perf_writer *writer, struct perf_event event)
{
	event.pid = event.tid = OWN_RECORDING_PID;
	event.id = 10;
	promise(!perf_writer_put(writer, &event));
}

static void put_sample(struct perf_writer *writer, uint64_t time, const uint64_t *chain,
		       uint64_t count)
{
	put(writer, (struct perf_event){.type = PERF_RECORD_SAMPLE,
					.misc = PERF_RECORD_MISC_USER,
					.cpu = 3,
					.time = time,
					.sample = {.ip = own_recording_pc(),
						   .period = 250,
						   .callchain = chain,
						   .callchain_nr = count}});
}

void own_recording_write(const char *path)
{
	const uint64_t deep[] = {PERF_CONTEXT_KERNEL, KERNEL_PC, PERF_CONTEXT_USER,
				 own_recording_pc(), 0x1234};
	struct perf_mmap code = own_code();
	struct perf_writer *writer;

	promise(!perf_writer_open(path, &cpu_clock, 1, &writer));
	put(writer,
	    (struct perf_event){.type = PERF_RECORD_COMM, .time = 1, .comm = {.comm = "subject"}});
	put(writer, (struct perf_event){.type = PERF_RECORD_MMAP2,
					.misc = PERF_RECORD_MISC_USER,
					.time = 2,
					.mmap = code});
	put_sample(writer, 1000, deep, 5);
	put_sample(writer, 2000, deep + 2, 2);
	promise(!perf_writer_finish(writer, NULL));
	free((char *)code.filename);
}
