/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Core files of any bytes, as files and as if they came through a pipe.
 *
 * Contract: a refusal has a reason and an offset in the input; memory that is there is in the file;
 * what a pipe has kept is what the file has; what is mapped has a length; walks of all threads end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/known_regs.h"
#include "elf/core_file.h"
#include "elf/core_stream.h"
#include "target/core_memory.h"
#include "unwind/core_space.h"
#include "unwind/module.h"

#define FRAMES 64
#define THREADS 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept)
{
	if (!kept)
		abort();
}

static void check_refusal(int r, const struct bobbin_error *error, uint64_t size)
{
	promise(r == -EBADMSG || r == -EFBIG || r == -ESPIPE);
	promise(r != -EBADMSG || error->reason != BOBBIN_REASON_NONE);
	promise(error->offset <= size || error->reason == BOBBIN_REASON_ELF_BROKEN);
}

static void check_contents(const struct core_file *core, size_t size)
{
	promise(core->arch);
	for (size_t i = 0; i < core->memory_count; i++) {
		const struct core_memory *memory = &core->memory[i];

		promise(memory->size && memory->dumped <= memory->size);
		promise(!memory->dumped || memory->offset + memory->dumped <= size);
		promise(memory->start + memory->size >= memory->start);
	}
	for (size_t i = 0; i < core->mapping_count; i++)
		promise(core->mappings[i].start < core->mappings[i].end);
	promise(strlen(core->name) < sizeof(core->name));
	promise(strlen(core->arguments) < sizeof(core->arguments));
}

/* No file of this machine belongs to it. */
static void walk(struct core_file *core)
{
	const struct core_places places = {.sysroot = "/proc/self/fdinfo"};
	struct core_pages *pages = calloc(1, sizeof(*pages));
	struct bobbin_mem mem = {core_pages_read, pages};
	struct bobbin_frame frames[FRAMES];
	struct bobbin_unwinder *unwinder = NULL;
	struct bobbin_space *space;

	promise(pages && !bobbin_unwinder_open(NULL, &unwinder));
	pages->core = core;
	promise(!bobbin_space_open(unwinder, core->arch, &space));
	promise(!core_space_load(space, core, &places));
	for (size_t i = 0; i < core->thread_count && i < THREADS; i++) {
		struct bobbin_regs regs = known_regs(core->arch, core->threads[i].pc,
						     core->threads[i].gpr, core->threads[i].known);
		struct bobbin_trace trace = {.frames = frames, .max = FRAMES};

		bobbin_unwind(unwinder, space, &regs, &mem, &trace);
		promise(trace.count >= 1 && trace.count <= FRAMES);
		promise(trace.reason != BOBBIN_REASON_NONE);
	}
	bobbin_space_close(space);
	bobbin_unwinder_close(unwinder);
	free(pages);
}

/* @whole: NULL: it was refused. */
static void check_stream(int fd, size_t size, const struct core_file *whole)
{
	struct coverage kept = {0};
	struct bobbin_error error;
	struct core_file core;
	int copy, r;

	promise(!lseek(fd, 0, SEEK_SET));
	r = core_stream_read(fd, false, &error, &copy, &kept);
	if (r) {
		/* where a pipe ends is not known: headers may lead to what is beyond */
		check_refusal(r, &error, INT64_MAX);
		coverage_fini(&kept);
		return;
	}
	r = core_file_init(copy, &kept, &error, &core);
	promise(!r || r == -EBADMSG || r == -EFBIG);
	if (!r && whole)
		promise(core.thread_count == whole->thread_count && core.pid == whole->pid);
	if (!r)
		core_file_fini(&core);
	close(copy);
	coverage_fini(&kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("core", MFD_CLOEXEC), r;
	struct bobbin_error error;
	struct core_file core;

	promise(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	r = core_file_init(fd, NULL, &error, &core);
	if (r) {
		check_refusal(r, &error, size);
	} else {
		check_contents(&core, size);
		walk(&core);
	}
	check_stream(fd, size, r ? NULL : &core);
	if (!r)
		core_file_fini(&core);
	close(fd);
	return 0;
}
