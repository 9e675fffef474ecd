/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/debugger_images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory_origin.h"
#include "base/vector.h"
#include "core/bisect.h"

#define MS UINT64_C(1000000)
/* Relocations are applied soon after an image is announced, if at all. */
#define SETTLE_TIME (200 * MS)
#define GIVE_UP_TIME (10000 * MS)
/* A list may have changed and look as before, because memory is reused. */
#define AGAIN_TIME (1000 * MS)
#define AGAIN_FACTOR 200u

static uint64_t table_bytes(const struct debugger_image *image)
{
	return image->table ? remote_table_bytes(image->table) : 0;
}

static void close_image(struct debugger_image *image)
{
	jit_image_fini(&image->sections);
	remote_table_release(image->table);
	image->table = NULL;
}

static void close_all(struct debugger_image *images, size_t count)
{
	for (size_t i = 0; i < count; i++)
		close_image(&images[i]);
	free(images);
}

void debugger_images_fini(struct debugger_images *images)
{
	close_all(images->images, images->count);
	*images = (struct debugger_images){.process = images->process};
}

uint64_t debugger_images_bytes(const struct debugger_images *images)
{
	uint64_t bytes = images->count * sizeof(*images->images);

	for (size_t i = 0; i < images->count; i++)
		bytes += table_bytes(&images->images[i]) +
			 images->images[i].sections.text_count * sizeof(struct jit_text);
	return bytes;
}

/* Whether a piece of code is the image's. */
static int is_inside(void *ctx, uint64_t start, uint64_t end)
{
	const struct jit_image *image = ctx;
	/* after the last that begins before the piece's end */
	size_t i = bisect(at, 0, image->text_count, image->texts[at].start >= end);

	return i && image->texts[i - 1].end > start;
}

/* Bytes of the process, at an address that is 0 for none.  false: there are none. */
static bool read_bytes(const struct remote_process *process, uint64_t at, uint64_t size,
		       struct elf_bytes *ret, int *error)
{
	int r = 0;
	uint8_t *data = at ? process_read_copy(process, at, size, &r) : NULL;

	if (r == -ENOMEM)
		*error = r;
	if (!data)
		return false;
	ret->data = data;
	ret->size = size;
	return true;
}

/* Bytes that may still be read: of tables that are kept, and of those that are of no use. */
struct budget {
	uint64_t kept, tries;
};

/* A table of an image that is being opened. */
struct opening {
	const struct debugger_images *list;
	struct debugger_image *image;
	struct budget left;
	int error;
};

/* One of an image's two tables. */
struct table_part {
	const struct jit_part *part;
	struct elf_bytes *bytes; /* where they go */
	uint64_t *read_at;
	enum bobbin_source source;
	int (*open)(struct remote_table *table);
	void (*close)(struct remote_table *table);
};

static bool try_part_at(struct opening *o, const struct table_part *p, uint64_t at, uint64_t addr)
{
	struct remote_table *t = o->image->table;

	if (!at || !addr || o->error || p->part->size > o->left.tries)
		return false;
	o->left.tries -= p->part->size;
	if (!read_bytes(&o->list->process, at, p->part->size, p->bytes, &o->error))
		return false;
	p->bytes->addr = addr;
	o->error = p->open(t);
	if (o->error ||
	    !table_set_functions(&t->tables, p->source, is_inside, &o->image->sections)) {
		p->close(t);
		return false;
	}
	o->left.tries += p->part->size;
	*p->read_at = at;
	return true;
}

/* The loaded bytes; else the image's own, relative to where it was loaded, or to where they are. */
static bool try_part(struct opening *o, const struct table_part *p)
{
	const struct jit_part *part = p->part;

	if (!part->size || part->size > o->left.kept)
		return false;
	if (!try_part_at(o, p, part->loaded, part->loaded) &&
	    !try_part_at(o, p, part->kept, part->loaded) &&
	    !try_part_at(o, p, part->kept, part->kept))
		return false;
	o->left.kept -= part->size;
	return true;
}

static bool try_parts(struct opening *o)
{
	struct debugger_image *image = o->image;
	const struct table_part section = {&image->sections.sframe,   &image->table->section,
					   &image->section_at,        BOBBIN_SOURCE_SFRAME,
					   remote_table_open_section, remote_table_close_section};
	const struct table_part frames = {&image->sections.eh_frame, &image->table->frames,
					  &image->frames_at,         BOBBIN_SOURCE_EH_FRAME,
					  remote_table_open_frames,  remote_table_close_frames};
	bool found = try_part(o, &section);

	return (!o->error && try_part(o, &frames)) || found;
}

static bool has_no_tables(const struct debugger_image *image)
{
	const struct jit_image *s = &image->sections;

	return s->text_count && !s->sframe.size && !s->eh_frame.size;
}

/* An image without usable tables stays in the list without one. */
static int open_table(struct debugger_images *list, struct debugger_image *image,
		      const struct bobbin_arch *arch, struct budget *left)
{
	struct opening o = {list, image, *left, 0};
	bool found;

	if (!image->sections.text_count || has_no_tables(image))
		return 0;
	image->table = remote_table_open(arch);
	if (!image->table)
		return -ENOMEM;
	found = try_parts(&o);
	if (o.error || !found) {
		remote_table_release(image->table);
		image->table = NULL;
	}
	*left = o.left;
	return o.error;
}

static int open_image(struct debugger_images *list, const struct bobbin_arch *arch,
		      struct budget *left, struct debugger_image *image)
{
	int r = jit_image_read(&list->process, &image->entry, arch, &image->sections);

	if (r)
		return r == -ENOMEM ? r : 0;
	return open_table(list, image, arch, left);
}

/* Whether the bytes are as they were read before. */
static bool is_kept(const struct remote_process *process, uint64_t at,
		    const struct elf_bytes *bytes, int *error)
{
	struct elf_bytes again;
	bool same;

	if (!bytes->data)
		return true;
	if (!read_bytes(process, at, bytes->size, &again, error))
		return false;
	same = !memcmp(again.data, bytes->data, bytes->size);
	free(again.data);
	return same;
}

static bool is_same(const struct debugger_images *list, const struct bobbin_arch *arch,
		    const struct debugger_image *image, int *error)
{
	const struct remote_table *t = image->table;

	/* one without a table may get it later */
	return t && jit_image_is_same(&list->process, &image->entry, arch, &image->sections) &&
	       is_kept(&list->process, image->section_at, &t->section, error) &&
	       is_kept(&list->process, image->frames_at, &t->frames, error);
}

/* Read a known image again if it has changed.  1: the image or its table has; 0; -ENOMEM. */
static int look_again(struct debugger_images *list, const struct bobbin_arch *arch,
		      struct budget *left, struct debugger_image *image)
{
	uint64_t age = clock_now() - image->seen;
	bool had_table = image->table;
	int error = 0;

	if (is_same(list, arch, image, &error)) {
		image->settled = age >= SETTLE_TIME;
		return 0;
	}
	if (error)
		return error;
	left->kept += table_bytes(image);
	close_image(image);
	error = open_image(list, arch, left, image);
	if (error)
		return error;
	if (had_table)
		image->seen = clock_now();
	image->settled = !image->table && (has_no_tables(image) || age >= GIVE_UP_TIME);
	return had_table || image->table;
}

static int by_address(const void *a, const void *b)
{
	const struct debugger_image *x = a, *y = b;

	if (x->entry.address != y->entry.address)
		return x->entry.address < y->entry.address ? -1 : 1;
	if (x->entry.size != y->entry.size)
		return x->entry.size < y->entry.size ? -1 : 1;
	return 0;
}

static int by_address_and_order(const void *a, const void *b)
{
	const struct debugger_image *x = a, *y = b;
	int r = by_address(a, b);

	return r ? r : (x->order > y->order) - (x->order < y->order);
}

/* A cyclic list, or one that changes while it is read, may give an image twice. */
static size_t remove_doubles(struct debugger_image *images, size_t count)
{
	size_t kept = 0;

	qsort(images, count, sizeof(*images), by_address_and_order);
	for (size_t i = 0; i < count; i++)
		if (!kept || by_address(&images[kept - 1], &images[i]))
			images[kept++] = images[i];
	return kept;
}

/* Images in the making. */
struct image_vector {
	struct debugger_image *images;
	size_t count, room;
};

static int add_list(struct debugger_images *list, size_t descriptor, struct image_vector *v)
{
	struct gdb_jit_entry *entries;
	int n = gdb_jit_list(&list->process, list->descriptors[descriptor], &entries), r;

	if (n < 0)
		return n;
	r = vector_reserve(&v->images, &v->room, v->count + (size_t)n, sizeof(*v->images));
	for (int i = 0; i < n && !r && v->count < GDB_JIT_ENTRIES; i++, v->count++)
		v->images[v->count] = (struct debugger_image){.entry = entries[i],
							      .order = v->count};
	free(entries);
	return r;
}

/* The entries of all lists; the images are not read yet. */
static int list_images(struct debugger_images *list, struct debugger_image **ret, size_t *ret_count)
{
	struct image_vector v = {0};
	int r = 0;

	for (size_t i = 0; i < list->descriptor_count && !r; i++) {
		r = add_list(list, i, &v);
		if (r == -EFAULT)
			r = 0;
	}
	if (r) {
		free(v.images);
		return r;
	}
	*ret_count = v.count ? remove_doubles(v.images, v.count) : 0;
	*ret = v.images;
	return 0;
}

/* Move known images into the new list; true: tables are gone, or have another order. */
static bool take_over(struct debugger_images *list, struct debugger_image *images, size_t count)
{
	bool news = false;

	for (size_t i = 0; i < count; i++) {
		struct debugger_image *old = NULL;
		size_t order = images[i].order;

		if (list->count)
			old = bsearch(&images[i], list->images, list->count, sizeof(*images),
				      by_address);
		images[i].seen = clock_now();
		if (!old)
			continue;
		news |= old->order != order;
		images[i] = *old;
		images[i].order = order;
		*old = (struct debugger_image){.entry = old->entry};
	}
	for (size_t i = 0; i < list->count; i++)
		news |= !!list->images[i].table;
	return news;
}

/* New images get what the known ones leave, regardless of their order. */
static struct budget budget_of(const struct debugger_images *list)
{
	struct budget left = {DEBUGGER_IMAGES_MAX_BYTES, DEBUGGER_IMAGES_MAX_TRIES};

	for (size_t i = 0; i < list->count; i++)
		left.kept -= table_bytes(&list->images[i]);
	return left;
}

static int look_at(struct debugger_images *list, const struct bobbin_arch *arch, bool all)
{
	struct budget left = budget_of(list);
	int news = 0, r;

	list->unsettled = false;
	for (size_t i = 0; i < list->count; i++) {
		struct debugger_image *image = &list->images[i];

		if (!all && image->settled)
			continue;
		r = look_again(list, arch, &left, image);
		if (r < 0) {
			list->unsettled = true;
			return r;
		}
		news |= r;
		list->unsettled |= !image->settled;
	}
	return news;
}

static int read_list(struct debugger_images *list, const struct bobbin_arch *arch)
{
	struct debugger_image *images;
	size_t count;
	int news, r = list_images(list, &images, &count);

	if (r)
		return r;
	news = take_over(list, images, count);
	close_all(list->images, list->count);
	list->images = images;
	list->count = count;
	r = look_at(list, arch, true);
	return r < 0 ? r : news | r;
}

static bool has_bare_memory(const struct mapping_list *maps)
{
	for (size_t i = 0; i < maps->count; i++)
		if (memory_has_no_file(maps->list[i].path))
			return true;
	return false;
}

/* A descriptor may have been unmapped with its file, without an update of the mappings. */
static int read_states(struct debugger_images *list, bool *changed)
{
	struct gdb_jit_state states[GDB_JIT_DESCRIPTORS] = {0};
	size_t gone = 0;

	for (size_t i = 0; i < list->descriptor_count; i++) {
		int r = gdb_jit_state(&list->process, list->descriptors[i], &states[i]);

		if (r && r != -EFAULT)
			return r;
		gone += r == -EFAULT;
	}
	if (gone == list->descriptor_count)
		return -EFAULT;
	*changed = memcmp(states, list->states, list->descriptor_count * sizeof(*states));
	memcpy(list->states, states, list->descriptor_count * sizeof(*states));
	return 0;
}

/* true: they are others than before. */
static bool find_descriptors(struct debugger_images *list, const struct mapping_list *maps,
			     uint64_t generation)
{
	uint64_t found[GDB_JIT_DESCRIPTORS];
	size_t count;

	if (list->searched && list->generation == generation)
		return false;
	list->searched = true;
	list->generation = generation;
	count = has_bare_memory(maps) ? gdb_jit_find(maps, found) : 0;
	if (count == list->descriptor_count &&
	    !memcmp(found, list->descriptors, count * sizeof(*found)))
		return false;
	memcpy(list->descriptors, found, count * sizeof(*found));
	list->descriptor_count = count;
	list->again = 0;
	return true;
}

static int read_news(struct debugger_images *list, const struct bobbin_arch *arch)
{
	uint64_t start = clock_now(), wait;
	bool changed;
	int r = read_states(list, &changed);

	if (r)
		return r;
	if (!changed && start < list->again)
		return list->unsettled ? look_at(list, arch, false) : 0;
	/* after a failure, try again in the next update */
	list->again = 0;
	r = read_list(list, arch);
	if (r < 0)
		return r;
	wait = AGAIN_FACTOR * (clock_now() - start);
	list->again = clock_now() + (wait > AGAIN_TIME ? wait : AGAIN_TIME);
	return r;
}

int debugger_images_update(struct debugger_images *images, const struct mapping_list *maps,
			   const struct bobbin_arch *arch, uint64_t generation)
{
	bool others = find_descriptors(images, maps, generation);
	int r;

	if (images->descriptor_count) {
		r = read_news(images, arch);
		return r < 0 ? r : r || others;
	}
	if (!others)
		return -ENOENT;
	debugger_images_fini(images);
	return 1;
}

static int range_by_start(const void *a, const void *b)
{
	const struct debugger_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static size_t remove_overlaps(struct debugger_range *ranges, size_t count)
{
	size_t kept = 0;

	qsort(ranges, count, sizeof(*ranges), range_by_start);
	for (size_t i = 0; i < count; i++) {
		if (kept && ranges[kept - 1].end > ranges[i].start) {
			if (ranges[kept - 1].order <= ranges[i].order)
				continue;
			kept--;
		}
		ranges[kept++] = ranges[i];
	}
	return kept;
}

static size_t count_texts(const struct debugger_images *images)
{
	size_t count = 0;

	for (size_t i = 0; i < images->count; i++)
		if (images->images[i].table)
			count += images->images[i].sections.text_count;
	return count < DEBUGGER_IMAGES_MAX_TEXTS ? count : DEBUGGER_IMAGES_MAX_TEXTS;
}

int debugger_images_ranges(const struct debugger_images *images, struct debugger_range **ret,
			   size_t *ret_count)
{
	size_t max = count_texts(images), count = 0;
	struct debugger_range *ranges = malloc((max + 1) * sizeof(*ranges));
	uint64_t left = JIT_IMAGE_TEXT_MAX;

	if (!ranges)
		return -ENOMEM;
	for (size_t i = 0; i < images->count; i++) {
		const struct debugger_image *image = &images->images[i];

		for (size_t k = 0; image->table && k < image->sections.text_count && count < max;
		     k++) {
			const struct jit_text *t = &image->sections.texts[k];

			if (t->end - t->start > left)
				continue;
			left -= t->end - t->start;
			ranges[count++] = (struct debugger_range){t->start, t->end, image->order,
								  image->table};
		}
	}
	*ret_count = remove_overlaps(ranges, count);
	*ret = ranges;
	return 0;
}
