/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/file_modules.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"

/* A file's tables, once somebody asked for them. */
struct module_slot {
	struct module *module;
	bool tried;
	bool left_out; /* there was no room for its tables */
	int tried_pid; /* through which it could not be opened */
};

static struct module_slot *slot_of(struct file_modules *m, uint32_t number)
{
	if (vector_reserve(&m->slots, &m->room, (size_t)number + 1, sizeof(*m->slots)))
		return NULL;
	while (m->count <= number)
		m->slots[m->count++] = (struct module_slot){0};
	return &m->slots[number];
}

static bool must_try(const struct module_slot *slot, const struct mapped_file *file)
{
	return !slot->tried || (!slot->module && !slot->left_out && slot->tried_pid != file->pid);
}

struct module *file_modules_get(struct file_modules *modules, const struct mapped_file *file,
				struct process_reader *reader,
				const struct bobbin_unwinder_options *options)
{
	struct module_slot *slot = slot_of(modules, file->number);
	int r;

	if (!slot || !must_try(slot, file))
		return slot ? slot->module : NULL;
	slot->tried = true;
	slot->tried_pid = file->pid;
	if (file->kind != FILE_REGULAR && file->kind != FILE_VDSO)
		return NULL;
	r = module_open(reader, file, options, FILE_MODULES_MAX - modules->bytes, &slot->module);
	slot->left_out = r == -ENOBUFS;
	if (!r)
		modules->bytes += elf_image_copied(&slot->module->image);
	return slot->module;
}

bool file_modules_left_out(const struct file_modules *modules, const struct mapped_file *file)
{
	return file->number < modules->count && modules->slots[file->number].left_out;
}

void file_modules_fini(struct file_modules *modules)
{
	for (uint32_t i = 0; i < modules->count; i++)
		module_close(modules->slots[i].module);
	free(modules->slots);
}
