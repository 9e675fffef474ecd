/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/loaded_object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The last reader has left. */
static void release(struct code *code)
{
	loaded_object_close((struct loaded_object *)code->object);
}

static int open_module(const struct loaded_image *image, struct mapping_list *maps,
		       struct module **ret)
{
	const struct bobbin_unwinder_options options = {.size = sizeof(options)};
	const struct module_context context = {.options = &options};
	const struct mapping *m = image->text_count ? mapping_list_find(maps, image->text[0].start)
						    : NULL;
	struct mapped_file file;
	int r;

	if (!m)
		return -ESTALE;
	if (m->file->kind != FILE_REGULAR && m->file->kind != FILE_VDSO)
		return -ENOENT;
	file = *m->file;
	if (image->has_build_id) {
		memcpy(file.build_id, image->proof_bytes, image->proof_len);
		file.build_id_len = image->proof_len;
	}
	r = module_open(&context, &file, UINT64_MAX, ret);
	if (r)
		return r;
	/* programs close what they do not know */
	module_leave_file(*ret);
	return 0;
}

int loaded_object_open(struct loaded_image *image, struct mapping_list *maps,
		       struct loaded_object **ret)
{
	struct loaded_object *o = calloc(1, sizeof(*o));
	int r;

	if (!o)
		return -ENOMEM;
	r = open_module(image, maps, &o->module);
	if (r == -ENOMEM || r == -ESTALE) {
		free(o);
		return r;
	}
	o->code.kind = CODE_OBJECT;
	o->code.text_start = image->text_count ? image->text[0].start : 0;
	o->code.object = o;
	o->code.release = release;
	o->image = *image;
	*image = (struct loaded_image){0};
	if (!o->image.stays && o->image.text_count)
		loader_link_find(o->image.text[0].start, &o->link);
	*ret = o;
	return 0;
}

void loaded_object_unlink(struct loaded_object *object)
{
	for (struct loaded_object **o = object->list; o && *o; o = &(*o)->next)
		if (*o == object) {
			*o = object->next;
			break;
		}
	object->list = NULL;
}

void loaded_object_close(struct loaded_object *object)
{
	if (!object)
		return;
	loaded_object_unlink(object);
	module_close(object->module);
	loaded_image_fini(&object->image);
	free(object);
}

bool loaded_object_linked(const struct loaded_object *object)
{
	struct loader_link link;

	if (object->image.stays || !loader_link_usable())
		return true;
	return loader_link_find(object->image.text[0].start, &link) &&
	       link.map == object->link.map && link.start == object->link.start &&
	       link.eh_frame == object->link.eh_frame;
}

bool loaded_object_present(const struct loaded_object *object, struct self_memory *memory)
{
	const struct loaded_image *image = &object->image;
	uint8_t bytes[IMAGE_PROOF_MAX];

	if (image->stays)
		return true;
	if (!loaded_object_linked(object))
		return false;
	if (!image->proof_len)
		return loader_link_usable();
	return !self_memory_read(memory, image->proof, bytes, image->proof_len) &&
	       !memcmp(bytes, image->proof_bytes, image->proof_len);
}
