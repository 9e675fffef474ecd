/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ELF images of any bytes in a process's memory, which is our own.
 *
 * Contract: functions have a size and a place that does not wrap around, names that
 * end, and are no more than symbols fit into the image; a refusal is -EBADMSG, and
 * what the caller of a function returns is handed on.  Code ascends and does not wrap
 * around; tables that the image has lie in it.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/native_arch.h"
#include "target/jit_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept)
{
	if (!kept)
		abort();
}

struct seen {
	size_t size, count, stop_at;
};

static int see(void *ctx, const struct gdb_jit_function *function)
{
	struct seen *seen = ctx;

	promise(function->start && function->size);
	promise(function->start + function->size > function->start);
	promise(strlen(function->name) > 0 && strlen(function->name) < seen->size);
	promise(++seen->count <= seen->size / sizeof(Elf64_Sym));
	return seen->count == seen->stop_at ? -E2BIG : 0;
}

static void check_part(const struct gdb_jit_entry *entry, const struct jit_part *part)
{
	promise(part->size <= GDB_JIT_IMAGE_MAX && part->size <= UINT64_MAX - part->loaded);
	if (!part->kept)
		return;
	promise(part->kept >= entry->address && part->size <= entry->size);
	promise(part->kept - entry->address <= entry->size - part->size);
}

static void check_sections(const struct gdb_jit_entry *entry)
{
	struct jit_image image;
	int r = jit_image_read(&(struct remote_process){NULL, getpid()}, entry, native_arch(),
			       &image);

	promise(!r || r == -EBADMSG);
	if (r)
		return;
	promise(image.text_count <= entry->size / sizeof(Elf64_Shdr));
	for (size_t i = 0; i < image.text_count; i++) {
		promise(image.texts[i].start < image.texts[i].end);
		promise(!i || image.texts[i].start >= image.texts[i - 1].start);
	}
	check_part(entry, &image.sframe);
	check_part(entry, &image.eh_frame);
	promise(jit_image_is_same(&(struct remote_process){NULL, getpid()}, entry, native_arch(),
				  &image));
	jit_image_fini(&image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct gdb_jit_entry entry = {(uintptr_t)data, size};
	struct seen all = {.size = size}, one = {.size = size, .stop_at = 1};
	int r = gdb_jit_functions(&(struct remote_process){NULL, getpid()}, &entry, see, &all);

	promise(!r || r == -EBADMSG);
	promise(!r || !all.count);
	promise(gdb_jit_functions(&(struct remote_process){NULL, getpid()}, &entry, see, &one) ==
		(all.count ? -E2BIG : r));
	check_sections(&entry);
	return 0;
}
