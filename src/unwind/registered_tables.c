/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/registered_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "codemap/published_code.h"
#include "unwind/foreign_table.h"
#include "unwind/rule_cache.h"

/* What a space has: @code comes first, so that one is the other. */
struct registrations {
	struct registered_code code;
	struct published_code published;
	size_t bytes; /* of sections */
};

static void close_image(struct registered_image *image)
{
	if (!image)
		return;
	free(image->path);
	free(image);
}

static void close_registrations(struct registered_code *code)
{
	struct registrations *r = (struct registrations *)code;

	for (size_t i = 0; i < code->count; i++) {
		foreign_table_release(code->ranges[i].table);
		close_image(code->ranges[i].image);
	}
	free(code->ranges);
	published_code_fini(&r->published);
	free(r);
}

static struct bobbin_error unreadable(void)
{
	return (struct bobbin_error){.reason = BOBBIN_NO_MEMORY};
}

/* A section that cannot be read is as good as a malformed one. */
static int open_section(struct registered_table *t, struct registrations *r,
			const struct bobbin_code_entry *e, const struct bobbin_arch *arch)
{
	struct elf_bytes *s = &t->section;

	if (e->table_size > REGISTERED_MAX_BYTES - r->bytes) {
		foreign_table_drop(t, unreadable());
		return 0;
	}
	*s = (struct elf_bytes){.size = e->table_size, .addr = e->table_addr};
	s->data = malloc(s->size ? s->size : 1);
	if (!s->data)
		return -ENOMEM;
	if (published_code_read(&r->published, e->table, s->data, s->size)) {
		foreign_table_drop(t, unreadable());
		return 0;
	}
	return s->size ? foreign_table_open_section(t, arch) : 0;
}

/* As a page says it. */
static struct bobbin_error dropped_error(uint64_t dropped)
{
	return (struct bobbin_error){.reason = (enum bobbin_reason)(dropped & 0xffff),
				     .offset = dropped >> 16};
}

static int open_table(struct registrations *r, const struct bobbin_code_entry *e,
		      const struct bobbin_arch *arch, struct registered_table **ret)
{
	struct registered_table *t = foreign_table_open();
	int error = 0;

	if (!t)
		return -ENOMEM;
	t->jit = e->kind == BOBBIN_CODE_JIT;
	t->pid = r->published.pid;
	t->info.text_start = e->text_start;
	t->info.text_end = e->text_end;
	t->info.unwind_head = e->table;
	if (e->dropped)
		foreign_table_drop(t, dropped_error(e->dropped));
	else if (!t->jit)
		error = open_section(t, r, e, arch);
	if (error) {
		foreign_table_release(t);
		return error;
	}
	*ret = t;
	return 0;
}

static int copy_image(const struct published_range *from, struct registered_image **ret)
{
	struct registered_image *image;

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
		return REGISTERED_NOWHERE;
	*next += size;
	return place;
}

static bool has_table(const struct bobbin_code_entry *e)
{
	return e->kind == BOBBIN_CODE_SFRAME || e->kind == BOBBIN_CODE_JIT;
}

/* What was known of the same registration before; both are in ascending order. */
static const struct registered_range *known_before(const struct registrations *old, size_t *at,
						   const struct bobbin_code_entry *e)
{
	const struct registered_range *range;

	while (*at < old->code.count && old->code.ranges[*at].start < e->text_start)
		++*at;
	if (*at == old->code.count)
		return NULL;
	range = &old->code.ranges[*at];
	return range->start == e->text_start && range->end == e->text_end && range->id == e->id
		       ? range
		       : NULL;
}

static void keep_table(struct registrations *r, struct registered_range *range,
		       const struct registered_range *known, uint64_t dropped)
{
	range->place = known->place;
	if (!known->table)
		return;
	range->table = foreign_table_share(known->table);
	r->bytes += range->table->section.size;
	if (dropped && !range->table->dropped)
		foreign_table_drop(range->table, dropped_error(dropped));
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
static int open_tables(struct registrations *r, struct new_range *list, size_t count,
		       const struct bobbin_arch *arch)
{
	if (count)
		qsort(list, count, sizeof(*list), by_id);
	for (size_t i = 0; i < count; i++) {
		const struct bobbin_code_entry *e = &r->published.ranges[list[i].index].entry;
		struct registered_range *range = &r->code.ranges[list[i].index];
		int error;

		if (i && !by_id(&list[i - 1], &list[i]) && e->kind == BOBBIN_CODE_SFRAME) {
			range->table = foreign_table_share(r->code.ranges[list[i - 1].index].table);
			continue;
		}
		error = open_table(r, e, arch, &range->table);
		if (error)
			return error;
		r->bytes += range->table->section.size;
	}
	return 0;
}

static int fill(struct registrations *r, const struct registrations *old, struct new_range *list,
		const struct bobbin_arch *arch, uint64_t *next_place)
{
	size_t at = 0, added = 0;

	for (size_t i = 0; i < r->published.count; i++) {
		const struct published_range *from = &r->published.ranges[i];
		const struct bobbin_code_entry *e = &from->entry;
		const struct registered_range *known = old ? known_before(old, &at, e) : NULL;
		struct registered_range *range = &r->code.ranges[i];

		*range = (struct registered_range){
			.start = e->text_start, .end = e->text_end, .id = e->id};
		r->code.count++;
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

/* @old: of the same process and its same page, or NULL */
static int build(const struct published_code *published, const struct registrations *old,
		 const struct bobbin_arch *arch, uint64_t *next_place, struct registrations **ret)
{
	struct registrations *r = calloc(1, sizeof(*r));
	struct new_range *list = NULL;
	int error = -ENOMEM;

	if (!r)
		return -ENOMEM;
	r->code.users = 1;
	r->code.close = close_registrations;
	r->code.ranges = calloc(published->count + 1, sizeof(*r->code.ranges));
	list = calloc(published->count + 1, sizeof(*list));
	/* borrowed until all is well */
	r->published = *published;
	if (r->code.ranges && list)
		error = fill(r, old, list, arch, next_place);
	free(list);
	if (error) {
		r->published = (struct published_code){0};
		registered_release(&r->code);
		return error;
	}
	*ret = r;
	return 0;
}

int registered_tables_update(struct bobbin_space *space, int pid, uint64_t *next_place)
{
	struct registrations *old = (struct registrations *)space->registered, *new;
	struct published_code published;
	uint64_t page = 0;
	int r, error;

	/* a forked child's numbers are not its parent's */
	if (old && old->published.pid != pid)
		old = NULL;
	if (old) {
		published = old->published;
		page = published.page;
		old->published = (struct published_code){.pid = pid};
	} else {
		published_code_init(pid, &published);
	}
	r = published_code_update(&published);
	if (r != 1 && r != -EAGAIN) {
		if (old)
			old->published = published;
		else
			published_code_fini(&published);
		return r;
	}
	error = build(&published, published.page == page ? old : NULL, space->arch, next_place,
		      &new);
	if (error) {
		published_code_fini(&published);
		return error;
	}
	space_register(space, &new->code);
	return 1;
}
