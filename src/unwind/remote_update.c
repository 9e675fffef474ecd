/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/remote_update.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_origin.h"
#include "codemap/code_map.h"
#include "unwind/rule_cache.h"
#include "unwind/space.h"

/* A section that cannot be read is as good as a malformed one. */
static const struct bobbin_error unreadable = {.reason = BOBBIN_REASON_NO_MEMORY};

static int open_section(struct remote_table *t, struct remote_code *r,
			const struct bobbin_code_entry *e)
{
	struct elf_bytes *s = &t->section;

	/* sections that are kept may have taken more */
	if (r->bytes > r->section_limit || e->table_size > r->section_limit - r->bytes) {
		r->left_out++;
		table_set_drop(&t->tables, &unreadable);
		return 0;
	}
	*s = (struct elf_bytes){.size = e->table_size, .addr = e->table_addr};
	s->data = malloc(s->size ? s->size : 1);
	if (!s->data)
		return -ENOMEM;
	if (process_read(&r->published.process, e->table, s->data, s->size)) {
		table_set_drop(&t->tables, &unreadable);
		return 0;
	}
	return s->size ? remote_table_open_section(t) : 0;
}

/* The process has dropped the table itself. */
static void drop_as_told(struct remote_code *r, struct remote_table *t, uint64_t dropped)
{
	const struct bobbin_error error = dropped_error(dropped);
	struct bobbin_error known;

	r->drops += !table_set_dropped(&t->tables, &known);
	table_set_drop(&t->tables, &error);
}

static int open_table(struct remote_code *r, const struct bobbin_code_entry *e,
		      const struct bobbin_arch *arch, struct remote_table **ret)
{
	const struct code_jit_info jit = {e->text_start, e->text_end, e->table};
	struct remote_table *t = remote_table_open(arch);
	int error = 0;

	if (!t)
		return -ENOMEM;
	if (e->kind == BOBBIN_CODE_JIT)
		remote_table_open_jit(t, &r->published.process, &jit);
	if (e->dropped)
		drop_as_told(r, t, e->dropped);
	else if (e->kind != BOBBIN_CODE_JIT)
		error = open_section(t, r, e);
	if (error) {
		remote_table_release(t);
		return error;
	}
	*ret = t;
	return 0;
}

static int copy_image(const struct page_range *from, struct remote_image **ret)
{
	struct remote_image *image;

	if (!from->path || from->elf_start >= from->elf_end)
		return 0;
	image = calloc(1, sizeof(*image));
	if (!image)
		return -ENOMEM;
	image->start = from->elf_start;
	image->end = from->elf_end;
	image->build_id_len = from->build_id_len;
	memcpy(image->build_id, from->build_id, sizeof(image->build_id));
	image->path = strdup(from->path);
	if (!image->path) {
		free(image);
		return -ENOMEM;
	}
	*ret = image;
	return 0;
}

static uint64_t take_place(uint64_t *next, uint64_t size)
{
	uint64_t place = *next;

	if (size > (UINT64_C(1) << KEY_FILE) - place)
		return REMOTE_NOWHERE;
	*next += size;
	return place;
}

static bool has_table(const struct bobbin_code_entry *e)
{
	return e->kind == BOBBIN_CODE_SFRAME || e->kind == BOBBIN_CODE_JIT;
}

/* What was known of the same registration before; both are in ascending order. */
static const struct remote_range *known_before(const struct remote_code *old, size_t *at,
					       const struct bobbin_code_entry *e)
{
	const struct remote_range *range;

	while (*at < old->count && old->ranges[*at].start < e->text_start)
		++*at;
	if (*at == old->count)
		return NULL;
	range = &old->ranges[*at];
	return range->start == e->text_start && range->end == e->text_end && range->id == e->id
		       ? range
		       : NULL;
}

static void keep_table(struct remote_code *r, struct remote_range *range,
		       const struct remote_range *known, uint64_t dropped)
{
	range->place = known->place;
	if (!known->table)
		return;
	range->table = remote_table_share(known->table);
	if (!range->table->counted)
		r->bytes += range->table->section.size;
	range->table->counted = true;
	if (dropped)
		drop_as_told(r, range->table, dropped);
}

struct new_range {
	uint64_t id, table;
	size_t index;
};

static int by_id(const void *a, const void *b)
{
	const struct new_range *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->table < y->table ? -1 : x->table > y->table;
}

/* Ranges of one registration share its section. */
static int open_tables(struct remote_code *r, struct new_range *list, size_t count,
		       const struct bobbin_arch *arch)
{
	if (count)
		qsort(list, count, sizeof(*list), by_id);
	for (size_t i = 0; i < count; i++) {
		const struct bobbin_code_entry *e = &r->published.ranges[list[i].index].entry;
		struct remote_range *range = &r->ranges[list[i].index];
		int error;

		if (i && !by_id(&list[i - 1], &list[i]) && e->kind == BOBBIN_CODE_SFRAME) {
			range->table = remote_table_share(r->ranges[list[i - 1].index].table);
			continue;
		}
		error = open_table(r, e, arch, &range->table);
		if (error)
			return error;
		r->bytes += range->table->section.size;
	}
	return 0;
}

static void count_anew(const struct remote_code *old)
{
	for (size_t i = 0; old && i < old->count; i++)
		if (old->ranges[i].table)
			old->ranges[i].table->counted = false;
}

static int fill(struct remote_code *r, const struct remote_code *old, struct new_range *list,
		const struct bobbin_arch *arch, uint64_t *next_place)
{
	size_t at = 0, added = 0;

	count_anew(old);
	for (size_t i = 0; i < r->published.count; i++) {
		const struct page_range *from = &r->published.ranges[i];
		const struct bobbin_code_entry *e = &from->entry;
		const struct remote_range *known = old ? known_before(old, &at, e) : NULL;
		struct remote_range *range = &r->ranges[i];

		*range = (struct remote_range){
			.start = e->text_start, .end = e->text_end, .id = e->id};
		r->count++;
		if (copy_image(from, &range->image))
			return -ENOMEM;
		if (known) {
			keep_table(r, range, known, e->dropped);
			continue;
		}
		range->place = take_place(next_place, range->end - range->start);
		if (has_table(e))
			list[added++] = (struct new_range){e->id, e->table, i};
	}
	return open_tables(r, list, added, arch);
}

/* Makes ranges of what images say, between those that a page has. */
struct merge {
	const struct bobbin_space *space;
	const struct remote_code *old; /* or NULL */
	const struct remote_code *page;
	size_t page_at, mapping_at;
	struct remote_range *ranges; /* all, ascending */
	size_t count;
	uint64_t *next_place;
};

/* Where the same piece of code was before, if rules of it may be cached. */
static uint64_t piece_place(const struct merge *m, const struct remote_range *piece)
{
	const struct remote_range *old = remote_code_find(m->old, piece->start);

	if (old && old->start == piece->start && old->end == piece->end &&
	    old->table == piece->table)
		return old->place;
	return take_place(m->next_place, piece->end - piece->start);
}

static void add_piece(struct merge *m, const struct debugger_range *from, uint64_t start,
		      uint64_t end)
{
	struct remote_range piece = {
		.start = start,
		.end = end,
		.id = REMOTE_NO_ID,
		.table = from->table,
		.debugger_image = true,
	};

	if (start >= end)
		return;
	piece.place = piece_place(m, &piece);
	remote_table_share(piece.table);
	m->ranges[m->count++] = piece;
}

/* Page ranges up to @end are taken over. */
static void take_page(struct merge *m, uint64_t end)
{
	while (m->page_at < m->page->count && m->page->ranges[m->page_at].start < end)
		m->ranges[m->count++] = m->page->ranges[m->page_at++];
}

/* The first mapping of a file that ends after @at, or NULL. */
static const struct mapping *file_after(struct merge *m, uint64_t at)
{
	const struct mapping *mappings = m->space->maps.list;

	while (m->mapping_at < m->space->maps.count &&
	       (mappings[m->mapping_at].end <= at ||
		memory_has_no_file(mappings[m->mapping_at].path)))
		m->mapping_at++;
	return m->mapping_at < m->space->maps.count ? &mappings[m->mapping_at] : NULL;
}

/* What the process registered, and what the kernel has mapped, counts more. */
static void add_image_code(struct merge *m, const struct debugger_range *from)
{
	uint64_t at = from->start;

	take_page(m, from->start + 1);
	for (;;) {
		const struct remote_range *next = m->page_at < m->page->count
							  ? &m->page->ranges[m->page_at]
							  : NULL;
		const struct mapping *file;
		uint64_t start = from->end, end = from->end;

		/* the last one may be a page's that reaches into this */
		if (m->count && m->ranges[m->count - 1].end > at)
			at = m->ranges[m->count - 1].end;
		if (at >= from->end)
			return;
		file = file_after(m, at);
		if (next && next->start < start) {
			start = next->start;
			end = next->end;
		}
		if (file && file->start < start) {
			start = file->start;
			end = file->end;
		}
		add_piece(m, from, at, start);
		take_page(m, end < from->end ? end : from->end);
		at = end > at ? end : from->end;
	}
}

/* @r has what a page says; add what images say. */
static int merge_images(struct remote_code *r, const struct remote_code *old,
			const struct bobbin_space *space, uint64_t *next_place)
{
	struct merge m = {.space = space, .old = old, .page = r, .next_place = next_place};
	struct debugger_range *list;
	size_t count;
	int error = debugger_images_ranges(&r->images, &list, &count);

	if (error)
		return error;
	/* what is in the way of a piece makes two of it */
	m.ranges = calloc(count + 2 * r->count + space->maps.count + 1, sizeof(*m.ranges));
	if (!m.ranges) {
		free(list);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		add_image_code(&m, &list[i]);
	take_page(&m, UINT64_MAX);
	free(list);
	free(r->ranges);
	r->ranges = m.ranges;
	r->count = m.count;
	return 0;
}

/* What a process says, before ranges are made of it. */
struct told {
	struct page_copy published;
	struct debugger_images images;
};

static void told_fini(struct told *told)
{
	page_copy_fini(&told->published);
	debugger_images_fini(&told->images);
}

static uint64_t told_bytes(const struct told *told)
{
	return told->published.bytes + debugger_images_bytes(&told->images);
}

/* For sections: what is left of the room. */
static uint64_t section_limit(const struct told *told, uint64_t available)
{
	uint64_t taken = told_bytes(told), left = available > taken ? available - taken : 0;

	return left < REMOTE_MAX_BYTES ? left : REMOTE_MAX_BYTES;
}

static void charge(struct remote_code *r, const struct remote_code *old, struct remote_room *room)
{
	const struct told told = {r->published, r->images};

	r->room = room;
	r->charged = told_bytes(&told) + r->bytes;
	room->used += r->charged;
	room->drops += r->drops;
	r->left_out += r->published.left_out;
	if (!old || r->left_out > old->left_out)
		room->left_out += r->left_out - (old ? old->left_out : 0);
}

/* @old: of the same process, or NULL; @page: the one that it was made of */
static int build(const struct told *told, const struct remote_code *old, uint64_t page,
		 const struct bobbin_space *space, struct remote_room *room, uint64_t available,
		 struct remote_code **ret)
{
	size_t count = told->published.count;
	struct remote_code *r = calloc(1, sizeof(*r));
	struct new_range *list = NULL;
	int error = -ENOMEM;

	if (!r)
		return -ENOMEM;
	r->users = 1;
	r->ranges = calloc(count + 1, sizeof(*r->ranges));
	list = calloc(count + 1, sizeof(*list));
	/* borrowed until all is well */
	r->published = told->published;
	r->images = told->images;
	r->section_limit = section_limit(told, available);
	if (r->ranges && list)
		error = fill(r, told->published.page == page ? old : NULL, list, space->arch,
			     &room->next_place);
	free(list);
	if (!error && r->images.count)
		error = merge_images(r, old, space, &room->next_place);
	if (error) {
		r->published = (struct page_copy){0};
		r->images = (struct debugger_images){0};
		remote_code_release(r);
		return error;
	}
	charge(r, old, room);
	*ret = r;
	return 0;
}

/* Of two doors: there is something, there may be more, or why not. */
static int both(int page, int images)
{
	if (page == -ENOENT)
		return images;
	if (images == -ENOENT)
		return page;
	if (page < 0 || images < 0)
		return page < 0 ? page : images;
	return page | images;
}

/* Take from @old what the process has said before, or begin. */
static void take_told(struct remote_code *old, const struct remote_process *process,
		      struct told *ret)
{
	*ret = (struct told){.images.process = *process};
	if (!old) {
		page_copy_init(process, &ret->published);
		return;
	}
	ret->published = old->published;
	ret->images = old->images;
	old->published = (struct page_copy){.process = *process};
	old->images = (struct debugger_images){.process = *process};
}

static bool has_other_mappings(const struct bobbin_space *space, const struct remote_code *old)
{
	return old && old->generation != space->generation;
}

static void give_back(struct told *told, struct remote_code *old)
{
	if (!old) {
		told_fini(told);
		return;
	}
	old->published = told->published;
	old->images = told->images;
}

/* Tables of JIT compilers are read in the process itself, so they are nobody else's. */
static bool can_be_inherited(const struct remote_code *r)
{
	if (r->images.count)
		return false;
	for (size_t i = 0; i < r->count; i++)
		if (r->ranges[i].table && r->ranges[i].table->jit.mem.read)
			return false;
	return true;
}

/* Whether what a forked child has is what its parent's space knows, which both share. */
static bool is_inherited(const struct remote_code *old, const struct bobbin_space *space,
			 const struct remote_process *process, unsigned int doors)
{
	struct debugger_images images = {.process = *process};
	bool same = can_be_inherited(old) && page_copy_is_same(&old->published, process);

	if (same && doors & REMOTE_IMAGES) {
		same = debugger_images_update(&images, &space->maps, space->arch,
					      space->generation) == -ENOENT;
		debugger_images_fini(&images);
	}
	return same;
}

/* What a space may take; what it has now is given back, if nobody else has it. */
static uint64_t available_room(const struct remote_room *room, const struct remote_code *old)
{
	uint64_t used = room->used - (old && old->users == 1 ? old->charged : 0);

	return room->limit > used ? room->limit - used : 0;
}

int remote_code_update(struct bobbin_space *space, int pid, unsigned int doors,
		       struct remote_room *room)
{
	struct remote_code *old = space->remote, *new;
	const struct remote_process process = {space->maps.reader, pid};
	int page = -ENOENT, images = -ENOENT, error;
	uint64_t known_page, available;
	struct told told;

	/* a forked child's numbers are not its parent's */
	if (old && old->published.process.pid != pid) {
		if (is_inherited(old, space, &process, doors))
			return doors & REMOTE_PAGE ? 0 : -ENOENT;
		doors = REMOTE_DOORS;
		old = NULL;
	}
	available = available_room(room, old);
	take_told(old, &process, &told);
	known_page = told.published.page;
	told.published.limit = available ? available : 1;
	if (doors & REMOTE_PAGE)
		page = page_copy_update(&told.published);
	if (doors & REMOTE_IMAGES && available >= DEBUGGER_IMAGES_MAX_BYTES)
		images = debugger_images_update(&told.images, &space->maps, space->arch,
						space->generation);
	if (!images && told.images.count && has_other_mappings(space, old))
		images = 1;
	if (page != 1 && page != -EAGAIN && images != 1) {
		give_back(&told, old);
		return both(page, images);
	}
	error = build(&told, old, known_page, space, room, available, &new);
	if (error) {
		told_fini(&told);
		return error;
	}
	space_register(space, new);
	new->generation = space->generation;
	return 1;
}
