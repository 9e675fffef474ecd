/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_origin.h"
#include "core/deps.h"
#include "target/backing_file.h"
#include "target/text_copy.h"

int space_open(struct file_table *files, struct process_reader *reader,
	       const struct bobbin_arch *arch, struct bobbin_space **ret)
{
	struct bobbin_space *space = calloc(1, sizeof(*space));

	if (!space)
		return -ENOMEM;
	space->maps.files = files;
	space->maps.reader = reader;
	space->arch = arch;
	plain_forms_of(arch, &space->forms);
	*ret = space;
	return 0;
}

void space_register(struct bobbin_space *space, struct remote_code *code)
{
	remote_code_release(space->remote);
	space->remote = code;
	space->generation++;
}

void space_note_root(struct bobbin_space *space, const struct mapping *m)
{
	const struct remote_process process = {
		.reader = space->maps.reader,
		.pid = space->live_pid ? space->live_pid : m->pid,
	};

	if (!space->root_sought)
		space->root = process_roots_find(&space->maps.files->roots, &process);
	space->root_sought = true;
	if (space->root)
		file_roots_add(&m->file->roots, space->root);
}

BOBBIN_API void bobbin_space_clear(struct bobbin_space *space)
{
	mapping_list_clear(&space->maps);
	space->root_sought = false;
	space_register(space, NULL);
}

BOBBIN_API void bobbin_space_close(struct bobbin_space *space)
{
	if (!space)
		return;
	bobbin_space_clear(space);
	mapping_list_fini(&space->maps);
	free(space->memo);
	free(space);
}

BOBBIN_API int bobbin_space_map(struct bobbin_space *space, const struct bobbin_mapping *mapping)
{
	space->generation++;
	return mapping_list_add(&space->maps, mapping, NULL);
}

BOBBIN_API int bobbin_space_map_image(struct bobbin_space *space,
				      const struct bobbin_mapping *mapping, const void *image,
				      size_t size)
{
	/* none of its bytes may be at NULL */
	const struct file_image kept = {size ? image : "", size};

	space->generation++;
	return mapping_list_add(&space->maps, mapping, &kept);
}

BOBBIN_API int bobbin_space_unmap(struct bobbin_space *space, uint64_t start, uint64_t end)
{
	space->generation++;
	return mapping_list_remove(&space->maps, start, end);
}

static int add_copy(void *ctx, const struct bobbin_mapping *mapping)
{
	return mapping_list_add(ctx, mapping, NULL);
}

BOBBIN_API int bobbin_space_load(struct bobbin_space *space, int pid)
{
	const struct remote_process process = {space->maps.reader, pid};
	int r;

	space->root_sought = false;
	space_register(space, NULL);
	r = mapping_list_load(&space->maps, pid);
	if (!r)
		r = text_copies_find(&process, NULL, add_copy, &space->maps) == -ENOMEM ? -ENOMEM
											: 0;
	return r;
}

BOBBIN_API int bobbin_space_fork(const struct bobbin_space *space, struct bobbin_space **ret)
{
	struct bobbin_space *child;

	if (space_open(space->maps.files, space->maps.reader, space->arch, &child))
		return -ENOMEM;
	if (mapping_list_copy(&space->maps, &child->maps)) {
		bobbin_space_close(child);
		return -ENOMEM;
	}
	child->remote = remote_code_share(space->remote);
	*ret = child;
	return 0;
}

static void place_in_image(const struct page_image *image, uint64_t addr,
			   struct bobbin_place_info *ret)
{
	*ret = (struct bobbin_place_info){
		.mapping =
			{
				.start = image->start,
				.end = image->end,
				.path = image->path,
				.build_id_len = image->build_id_len,
			},
		.file_offset = addr - image->start,
	};
	memcpy(ret->mapping.build_id, image->build_id, sizeof(image->build_id));
}

static void place_in_mapping(const struct mapping *m, uint64_t addr, struct bobbin_place_info *ret)
{
	const struct mapped_file *f = m->file;

	*ret = (struct bobbin_place_info){
		.mapping =
			{
				.start = m->start,
				.end = m->end,
				.offset = m->offset,
				.path = m->path,
				.build_id_len = f->build_id_len,
				.major = f->major,
				.minor = f->minor,
				.ino = f->ino,
				.generation = f->generation,
				.pid = m->pid,
			},
		.file_offset = mapping_offset(m, addr),
	};
	memcpy(ret->mapping.build_id, f->build_id, sizeof(f->build_id));
	if (f->kind == FILE_VDSO)
		ret->image = mapped_vdso(f, &ret->image_size);
}

BOBBIN_API int bobbin_space_find(const struct bobbin_space *space, uint64_t addr,
				 struct bobbin_place_info *ret)
{
	const struct remote_range *range = remote_code_find(space->remote, addr);
	const struct mapping *m = mapping_list_at(&space->maps, addr);

	/* what the kernel says is true, whatever the process says */
	if (range && range->image && (!m || memory_has_no_file(m->path)))
		place_in_image(range->image, addr, ret);
	else if (m)
		place_in_mapping(m, addr, ret);
	else
		return -ENOENT;
	return 0;
}
