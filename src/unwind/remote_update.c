/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/remote_update.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/coverage.h"
#include "base/memory_origin.h"
#include "base/vector.h"
#include "codemap/code_map.h"
#include "unwind/debugger_images.h"
#include "unwind/rule_cache.h"
#include "unwind/space.h"

/* A section that cannot be read is as good as a malformed one. */
static const struct bobbin_error unreadable = {.reason = BOBBIN_REASON_NO_MEMORY};

/* 0 or -ENOMEM. */
static int open_copy(struct remote_table *t, const struct bobbin_code_entry *e,
		     struct elf_bytes copy)
{
	if (e->kind == BOBBIN_CODE_COMPILED) {
		t->table = copy;
		remote_table_open_compiled(t);
		return 0;
	}
	t->section = copy;
	return e->table_size ? remote_table_open_section(t) : 0;
}

static int open_section(struct remote_table *t, struct remote_code *r,
			const struct bobbin_code_entry *e)
{
	int error;
	uint8_t *data;

	/* sections that are kept may have taken more */
	if (r->bytes > r->section_limit || e->table_size > r->section_limit - r->bytes) {
		r->left_out++;
		table_set_drop(&t->tables, &unreadable);
		return 0;
	}
	data = process_read_copy(&r->published.process, e->table, e->table_size, &error);
	if (error == -ENOMEM)
		return error;
	if (!data) {
		table_set_drop(&t->tables, &unreadable);
		return 0;
	}
	return open_copy(t, e, (struct elf_bytes){data, e->table_size, e->table_addr});
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

static int copy_image(const struct page_image *from, struct page_image **ret)
{
	struct page_image *image;

	if (!from->path || from->start >= from->end)
		return 0;
	image = malloc(sizeof(*image));
	if (!image)
		return -ENOMEM;
	*image = *from;
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
	return e->kind == BOBBIN_CODE_SFRAME || e->kind == BOBBIN_CODE_COMPILED ||
	       e->kind == BOBBIN_CODE_JIT;
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
		r->bytes += remote_table_bytes(range->table);
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

		if (i && !by_id(&list[i - 1], &list[i]) && e->kind != BOBBIN_CODE_JIT) {
			range->table = remote_table_share(r->ranges[list[i - 1].index].table);
			continue;
		}
		error = open_table(r, e, arch, &range->table);
		if (error)
			return error;
		r->bytes += remote_table_bytes(range->table);
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
		if (copy_image(&from->image, &range->image))
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

/* Adds code that debuggers are told of to what a page registers. */
struct piece_maker {
	struct remote_code *code;
	size_t room;                   /* of its ranges */
	const struct remote_code *old; /* or NULL */
	const struct debugger_range *from;
	uint64_t *next_place;
};

/* Where the same piece of code was before, if rules of it may be cached. */
static uint64_t piece_place(const struct piece_maker *m, const struct remote_range *piece)
{
	const struct remote_range *old = remote_code_find(m->old, piece->start);

	if (piece->table->hotspot)
		return REMOTE_NOWHERE;
	if (old && old->start == piece->start && old->end == piece->end &&
	    old->table == piece->table)
		return old->place;
	return take_place(m->next_place, piece->end - piece->start);
}

static int add_piece(void *ctx, uint64_t start, uint64_t end)
{
	struct piece_maker *m = ctx;
	struct remote_range piece = {
		.start = start,
		.end = end,
		.id = REMOTE_NO_ID,
		.table = m->from->table,
		.debugger_image = true,
	};

	piece.place = piece_place(m, &piece);
	if (vector_push(m->code->ranges, m->code->count, m->room, piece))
		return -ENOMEM;
	remote_table_share(piece.table);
	return 0;
}

/* What the process registered and the files that it has mapped take precedence over images. */
static int find_taken(const struct remote_code *page, const struct mapping_list *maps,
		      struct coverage *ret)
{
	int r = 0;

	for (size_t i = 0; i < page->count && !r; i++)
		r = coverage_add(ret, page->ranges[i].start, page->ranges[i].end);
	for (size_t i = 0; i < maps->count && !r; i++)
		if (!memory_has_no_file(maps->list[i].path))
			r = coverage_add(ret, maps->list[i].start, maps->list[i].end);
	return r;
}

/* @r has the ranges of a page; add those of images where neither these nor files are. */
static int merge_images(struct remote_code *r, const struct remote_code *old,
			const struct mapping_list *maps, uint64_t *next_place)
{
	struct piece_maker m = {r, r->count, old, NULL, next_place};
	struct coverage taken = {0};
	struct debugger_range *list;
	size_t count;
	int error = debugger_images_ranges(&r->images, &list, &count);

	if (error)
		return error;
	error = find_taken(r, maps, &taken);
	for (size_t i = 0; i < count && !error; i++) {
		m.from = &list[i];
		error = coverage_gaps(&taken, &(struct bobbin_range){list[i].start, list[i].end},
				      add_piece, &m);
	}
	qsort(r->ranges, r->count, sizeof(*r->ranges), vector_by_start);
	coverage_fini(&taken);
	free(list);
	return error;
}

/* The heaps of code of a Java virtual machine; rules of what is there are not cached for long. */
static int merge_machine(struct remote_code *r, const struct mapping_list *maps)
{
	struct remote_table *table = r->machine.table;
	const struct debugger_range from = {.table = table};
	struct piece_maker m = {r, r->count, NULL, &from, NULL};
	struct coverage taken = {0};
	int error = find_taken(r, maps, &taken);

	for (size_t i = 0; i < table->hotspot->vm.heap_count && !error; i++) {
		const struct hotspot_heap *heap = &table->hotspot->vm.heaps[i];

		error = coverage_gaps(&taken, &(struct bobbin_range){heap->start, heap->end},
				      add_piece, &m);
	}
	qsort(r->ranges, r->count, sizeof(*r->ranges), vector_by_start);
	coverage_fini(&taken);
	return error;
}

/* Of what the process says, before sections are copied. */
static uint64_t told_bytes(const struct remote_code *r)
{
	return r->published.bytes + debugger_images_bytes(&r->images);
}

/* For sections: what is left of the room. */
static uint64_t section_limit(const struct remote_code *r, uint64_t available)
{
	uint64_t taken = told_bytes(r), left = available > taken ? available - taken : 0;

	return left < REMOTE_MAX_BYTES ? left : REMOTE_MAX_BYTES;
}

static void charge(struct remote_code *r, const struct remote_code *old, struct remote_room *room)
{
	r->room = room;
	r->charged = told_bytes(r) + r->bytes;
	room->used += r->charged;
	room->drops += r->drops;
	r->left_out += r->published.left_out;
	if (!old || r->left_out > old->left_out)
		room->left_out += r->left_out - (old ? old->left_out : 0);
}

/* Make ranges of what @r was told.  @old: of the same process, or NULL; @page: its page */
static int build(struct remote_code *r, const struct remote_code *old, uint64_t page,
		 const struct bobbin_space *space, struct remote_room *room, uint64_t available)
{
	size_t count = r->published.count;
	struct new_range *list = calloc(count + 1, sizeof(*list));
	int error = -ENOMEM;

	r->ranges = calloc(count + 1, sizeof(*r->ranges));
	r->section_limit = section_limit(r, available);
	if (r->ranges && list)
		error = fill(r, r->published.page == page ? old : NULL, list, space->arch,
			     &room->next_place);
	free(list);
	if (!error && r->images.count)
		error = merge_images(r, old, &space->maps, &room->next_place);
	if (!error && r->machine.table)
		error = merge_machine(r, &space->maps);
	if (!error)
		charge(r, old, room);
	return error;
}

/*
 * Look for a Java virtual machine, or ask the one that is known.  1: there is another one, or it
 * has other heaps; 0: nothing is new; -ENOENT: there is none; -ENOMEM.
 */
static int update_machine(struct remote_machine *machine, const struct remote_process *process,
			  const struct bobbin_space *space, const struct infer_ops *infer)
{
	struct hotspot_code *code;
	int r;

	if (machine->table)
		return hotspot_code_update(machine->table->hotspot);
	if (!infer || (machine->sought && machine->generation == space->generation))
		return -ENOENT;
	r = hotspot_code_open(process, &space->maps, infer, &code);
	/* while the machine starts, it does not describe all yet */
	machine->sought = r == -ENOENT || r == -ENOTSUP;
	machine->generation = space->generation;
	if (r)
		return r == -ENOMEM ? r : -ENOENT;
	machine->table = remote_table_open(space->arch);
	if (machine->table)
		remote_table_open_hotspot(machine->table, code);
	hotspot_code_release(code);
	return machine->table ? 1 : -ENOMEM;
}

/* Of both sources: there is something, there may be more, or why not. */
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

/* Without ranges. */
static struct remote_code *open_code(const struct remote_process *process)
{
	struct remote_code *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->users = 1;
	r->images.process = *process;
	page_copy_init(process, &r->published);
	return r;
}

/* What the process has said before. */
static void move_told(struct remote_code *from, struct remote_code *to)
{
	to->published = from->published;
	to->images = from->images;
	to->machine = from->machine;
	from->published = (struct page_copy){.process = to->published.process};
	from->images = (struct debugger_images){.process = to->images.process};
	from->machine = (struct remote_machine){0};
}

static bool has_other_mappings(const struct bobbin_space *space, const struct remote_code *old)
{
	return old && old->generation != space->generation;
}

/* Tables of JIT compilers are read in the process itself, so they are nobody else's. */
static bool can_be_inherited(const struct remote_code *r)
{
	if (r->images.count || r->machine.table)
		return false;
	for (size_t i = 0; i < r->count; i++)
		if (r->ranges[i].table && r->ranges[i].table->jit.mem.read)
			return false;
	return true;
}

/* Whether what a forked child has is what its parent's space knows, which both share. */
static bool is_inherited(const struct remote_code *old, const struct bobbin_space *space,
			 const struct remote_process *process, unsigned int sources)
{
	struct debugger_images images = {.process = *process};
	bool same = can_be_inherited(old) && page_copy_is_same(&old->published, process);

	if (same && sources & REMOTE_IMAGES) {
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

int remote_code_update(struct bobbin_space *space, int pid, unsigned int sources,
		       struct remote_room *room)
{
	struct remote_code *old = space->remote, *new;
	const struct remote_process process = {space->maps.reader, pid};
	int page = -ENOENT, images = -ENOENT, error;
	uint64_t known_page, available;

	/* a forked child's numbers are not its parent's */
	if (old && old->published.process.pid != pid) {
		if (is_inherited(old, space, &process, sources))
			return sources & REMOTE_PAGE ? 0 : -ENOENT;
		sources = REMOTE_SOURCES;
		old = NULL;
	}
	new = open_code(&process);
	if (!new)
		return -ENOMEM;
	if (old)
		move_told(old, new);
	available = available_room(room, old);
	known_page = new->published.page;
	new->published.limit = available ? available : 1;
	if (sources & REMOTE_PAGE)
		page = page_copy_update(&new->published);
	if (sources & REMOTE_IMAGES && available >= DEBUGGER_IMAGES_MAX_BYTES)
		images = debugger_images_update(&new->images, &space->maps, space->arch,
						space->generation);
	if (sources & REMOTE_IMAGES)
		images = both(images, update_machine(&new->machine, &process, space, room->infer));
	if (!images && (new->images.count || new->machine.table) && has_other_mappings(space, old))
		images = 1;
	if (page != 1 && page != -EAGAIN && images != 1) {
		if (old)
			move_told(new, old);
		remote_code_release(new);
		return both(page, images);
	}
	error = build(new, old, known_page, space, room, available);
	if (error) {
		remote_code_release(new);
		return error;
	}
	space_register(space, new);
	new->generation = space->generation;
	return 1;
}
