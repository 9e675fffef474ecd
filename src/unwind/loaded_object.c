/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/loaded_object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The map has ranges that cross such bounds in pieces. */
#define CHUNK 0xffffffffull

/* The first part of [@at, @end) that the map has no code for. */
static bool next_gap(const struct code_map *map, uint64_t at, uint64_t end, struct image_text *ret)
{
	struct code_range next;

	for (; at < end; at = next.end) {
		bool found = code_map_next(map, at, &next) && next.start < end;
		uint64_t chunk_end = (at | CHUNK) + 1;

		if (found && next.start <= at)
			continue;
		if (found)
			end = next.start;
		*ret = (struct image_text){at, end < chunk_end ? end : chunk_end};
		return true;
	}
	return false;
}

static bool has_gap(const struct code_map *map, const struct loaded_image *image)
{
	struct image_text gap;

	for (size_t i = 0; i < image->text_count; i++)
		if (next_gap(map, image->text[i].start, image->text[i].end, &gap))
			return true;
	return false;
}

/* 1: there were gaps; 0; -ENOMEM. */
static int fill_gaps(struct code_map *map, struct loaded_object *o)
{
	int filled = 0;

	for (size_t i = 0; i < o->image.text_count; i++) {
		struct image_text gap = {.end = o->image.text[i].start};

		while (next_gap(map, gap.end, o->image.text[i].end, &gap)) {
			struct code_range range = {gap.start, gap.end, &o->code};
			int r = code_map_add(map, &range);

			if (r)
				return r;
			filled = 1;
		}
	}
	return filled;
}

/* The last removal may release the object. */
static void remove_object(struct code_map *map, struct loaded_object *o)
{
	const struct code *code = &o->code;
	uint32_t left = code->ranges;

	loaded_object_unlink(o);
	for (size_t i = 0; left && i < o->image.text_count; i++) {
		uint64_t at = o->image.text[i].start, end = o->image.text[i].end;
		struct code_range next;

		for (; left && code_map_next(map, at, &next) && next.start < end; at = next.end)
			if (next.code == code) {
				left--;
				code_map_remove(map, &next);
			}
	}
}

static struct loaded_image *find_image(const struct image_list *list,
				       const struct loaded_object *object)
{
	for (size_t i = 0; i < list->count; i++)
		if (loaded_image_same(&list->images[i], &object->image))
			return &list->images[i];
	return NULL;
}

/*
 * Registrations may have taken all of an object's ranges.  The map releases it then,
 * in the middle of any change: nothing of the list may be such when the map changes.
 */
static int unlink_released(struct loaded_objects *objects)
{
	struct loaded_object *o, *next;
	int changed = 0;

	for (o = objects->first; o; o = next) {
		next = o->next;
		if (o->code.ranges)
			continue;
		loaded_object_unlink(o);
		changed = 1;
	}
	return changed;
}

/* Remove what is gone, complete what is there, and forget those images. */
static int update_known(struct loaded_objects *objects, struct code_map *map,
			struct image_list *list)
{
	struct loaded_object *o, *next;
	int changed = unlink_released(objects);

	for (o = objects->first; o; o = next) {
		next = o->next;
		if (find_image(list, o) && loaded_object_linked(o))
			continue;
		remove_object(map, o);
		changed = 1;
	}
	for (o = objects->first; o; o = o->next) {
		struct loaded_image *image = find_image(list, o);
		int r = image ? fill_gaps(map, o) : 0;

		if (r < 0)
			return r;
		changed |= r;
		if (image)
			image->text_count = 0;
	}
	return changed;
}

/* Objects whose text is all registered need no tables. */
static size_t count_new(struct code_map *map, struct image_list *list)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (!has_gap(map, &list->images[i]))
			list->images[i].text_count = 0;
		count += list->images[i].text_count != 0;
	}
	return count;
}

static int open_new(struct image_list *list, struct mapping_list *maps,
		    struct loaded_object **first)
{
	int r = mapping_list_load(maps, getpid());

	if (r == -ENOMEM)
		return r;
	for (size_t i = 0; i < list->count; i++) {
		struct loaded_object *o;

		if (!list->images[i].text_count)
			continue;
		r = loaded_object_open(&list->images[i], maps, &o);
		if (r == -ESTALE)
			continue;
		if (r)
			return r;
		o->next = *first;
		*first = o;
	}
	return 0;
}

static int open_objects(struct image_list *list, struct loaded_object **first)
{
	struct file_table files = {0};
	struct mapping_list maps = {.files = &files};
	int r = open_new(list, &maps, first);

	mapping_list_fini(&maps);
	file_table_fini(&files);
	return r;
}

/* Put objects that were opened into the map; what finds no room there is closed. */
static int add_objects(struct loaded_objects *objects, struct code_map *map,
		       struct loaded_object *first)
{
	struct loaded_object *next;
	int r = 0, changed = 0;

	for (struct loaded_object *o = first; o; o = next) {
		int filled = r ? 0 : fill_gaps(map, o);

		next = o->next;
		if (filled < 0)
			r = filled;
		if (!o->code.ranges) {
			loaded_object_close(o);
			continue;
		}
		o->next = objects->first;
		o->list = &objects->first;
		objects->first = o;
		changed = 1;
	}
	return r ? r : changed;
}

static int sync_list(struct loaded_objects *objects, struct registry *registry,
		     struct image_list *list)
{
	struct code_map *map = registry_map(registry);
	struct loaded_object *first = NULL;
	int changed, added, r;
	size_t count;

	registry_lock(registry);
	changed = update_known(objects, map, list);
	count = changed < 0 ? 0 : count_new(map, list);
	registry_unlock(registry);
	if (!count)
		return changed;

	r = open_objects(list, &first);
	registry_lock(registry);
	added = add_objects(objects, map, first);
	registry_unlock(registry);
	if (r)
		return r;
	return added < 0 ? added : changed | added;
}

int loaded_objects_sync(struct loaded_objects *objects, struct registry *registry)
{
	struct image_list list;
	int r = image_list_init(&list);

	if (r)
		return r;
	r = sync_list(objects, registry, &list);
	image_list_fini(&list);
	return r;
}

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
	       loader_link_same(&link, &object->link);
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
