/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An order holds it together.  Registering: index, map, page, kernel; what fails is
 * undone backwards.  Unregistering: kernel, index, map; then no reader is left who
 * could call a range dropped, and its number on the page may be another's.
 */
#include "codemap/registry.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "codemap/code_checks.h"
#include "codemap/linux_calls.h"
#include "codemap/own_mappings.h"
#include "codemap/page_writer.h"
#include "codemap/registration.h"

struct registry {
	pthread_mutex_t lock; /* for all that follows */
	struct code_map *map;
	struct page_writer *page; /* or NULL */
	struct own_mappings mappings;
	struct linux_calls kernel;
	struct registration_index index;
	uint64_t last_id;
};

int registry_open(kernel_call kernel, struct registry **ret)
{
	struct registry *r = calloc(1, sizeof(*r));
	int error;

	if (!r)
		return -ENOMEM;
	error = code_map_open(&r->map);
	if (!error)
		error = page_writer_open(&r->page);
	/* a sandbox that allows no page does not keep a process from its own map */
	if (error && (error == -ENOMEM || !r->map)) {
		code_map_close(r->map);
		free(r);
		return error;
	}
	pthread_mutex_init(&r->lock, NULL);
	own_mappings_init(&r->mappings);
	r->kernel.call = kernel;
	*ret = r;
	return 0;
}

static struct code_jit_info jit_info(const struct registration *r)
{
	return (struct code_jit_info){.text_start = r->code.text_start,
				      .text_end = r->code.text_end,
				      .unwind_head = r->code.table};
}

/* Of a section for several ranges, the first of them. */
static struct code_elf_info section_info(const struct registration *r)
{
	const struct code *code = &r->code;

	return (struct code_elf_info){.text_start = r->ranges[0].text.start,
				      .text_end = r->ranges[0].text.end,
				      .sframe_start = code->table,
				      .sframe_end = code->table + code->table_size};
}

static void forget_in_kernel(struct registry *registry, const struct registration *r)
{
	const struct code_jit_info jit = jit_info(r);
	const struct code_elf_info section = section_info(r);

	if (!r->in_kernel)
		return;
	if (r->code.kind == CODE_JIT)
		linux_calls_codectl(&registry->kernel, CODE_UNREGISTER, &jit, sizeof(jit));
	else if (r->count > 1)
		linux_calls_codectl(&registry->kernel, CODE_UNREGISTER, &section, sizeof(section));
	else
		linux_calls_unregister(&registry->kernel, r->key);
}

void registry_close(struct registry *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->index.slot_count; i++)
		if (r->index.slots[i].registration)
			forget_in_kernel(r, r->index.slots[i].registration);
	registration_index_fini(&r->index);
	code_map_close(r->map); /* calls release() */
	page_writer_close(r->page);
	own_mappings_fini(&r->mappings);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

struct code_map *registry_map(struct registry *registry)
{
	return registry->map;
}

struct own_mappings *registry_mappings(struct registry *registry)
{
	return &registry->mappings;
}

const struct bobbin_code_page *registry_page(const struct registry *registry)
{
	return registry->page ? page_writer_page(registry->page) : NULL;
}

void registry_lock(struct registry *registry)
{
	pthread_mutex_lock(&registry->lock);
}

bool registry_is_free(struct registry *registry)
{
	if (pthread_mutex_trylock(&registry->lock))
		return false;
	pthread_mutex_unlock(&registry->lock);
	return true;
}

void registry_unlock(struct registry *registry)
{
	pthread_mutex_unlock(&registry->lock);
}

static void unpublish(struct registration *r)
{
	for (size_t i = 0; i < r->count; i++) {
		uint32_t number = atomic_load(&r->ranges[i].number);

		if (number != UNPUBLISHED)
			page_writer_remove(r->registry->page, number);
	}
}

/* The map's readers are gone.  The lock is held, or the registry closed. */
static void release(struct code *code)
{
	struct registration *r = (struct registration *)code;

	unpublish(r);
	registration_close(r);
}

/* Whether a walker dropped it before the range was on the page. */
static void tell_dropped(struct registration *r, uint32_t number)
{
	uint64_t dropped = atomic_load(&r->code.dropped);

	if (dropped)
		page_writer_dropped(r->registry->page, number, dropped);
}

static int publish(struct registration *r)
{
	if (!r->registry->page)
		return 0;
	for (size_t i = 0; i < r->count; i++) {
		const struct bobbin_code_entry entry = registration_entry(r, i);
		uint32_t number;
		int error = page_writer_add(r->registry->page, &entry, &number);

		if (error)
			return error;
		atomic_store(&r->ranges[i].number, number);
		tell_dropped(r, number);
	}
	return 0;
}

/*
 * A loaded object's range makes room for a registered one.  What stays of it is held
 * meanwhile, since a code without ranges is released.  When memory runs out it keeps
 * less than it had, or nothing, which the next look at the loaded objects repairs.
 */
static void cut_object(struct code_map *map, const struct code_range *object,
		       const struct code_text_range *text)
{
	struct code *code = object->code;
	const struct code_range left = {object->start, text->start, code};
	const struct code_range right = {text->end, object->end, code};

	code_map_hold(code);
	code_map_remove(map, object);
	if (left.start < left.end)
		code_map_add(map, &left);
	if (right.start < right.end)
		code_map_add(map, &right);
	code_map_let_go(map, code);
}

/* 1: there are loaded objects in a range; 0: nothing; -EEXIST: what was registered. */
static int check_range(const struct code_map *map, const struct code_text_range *text)
{
	struct code_range next;
	int found = 0;

	for (uint64_t at = text->start; code_map_next(map, at, &next) && next.start < text->end;
	     at = next.end) {
		if (next.code->kind != CODE_OBJECT)
			return -EEXIST;
		found = 1;
	}
	return found;
}

static void clear_range(struct code_map *map, const struct code_text_range *text)
{
	struct code_range next;

	for (uint64_t at = text->start; code_map_next(map, at, &next) && next.start < text->end;
	     at = next.end)
		cut_object(map, &next, text);
}

/* Nothing is changed if a part of the text is registered. */
static int make_room(struct code_map *map, const struct code_request *request)
{
	bool has_objects = false;

	for (size_t i = 0; i < request->count; i++) {
		int r = check_range(map, &request->ranges[i]);

		if (r < 0)
			return r;
		has_objects |= r;
	}
	for (size_t i = 0; has_objects && i < request->count; i++)
		clear_range(map, &request->ranges[i]);
	return 0;
}

static struct code_range map_range(struct registration *r, size_t i)
{
	return (struct code_range){r->ranges[i].text.start, r->ranges[i].text.end, &r->code};
}

/* The last range that goes takes the registration along when readers have gone. */
static void unmap(struct registration *r, size_t count)
{
	struct code_map *map = r->registry->map;

	while (count--) {
		const struct code_range range = map_range(r, count);

		code_map_remove(map, &range);
	}
	code_map_wait(map);
}

/* All ranges or none; with an error the registration is gone. */
static int map_and_publish(struct registration *r)
{
	struct code_map *map = r->registry->map;
	size_t done = 0;
	int error = 0;

	for (; done < r->count && !error; done += !error) {
		const struct code_range range = map_range(r, done);

		error = code_map_add(map, &range);
	}
	if (!error)
		error = publish(r);
	if (!error)
		return 0;
	registration_index_remove(&r->registry->index, r);
	if (done)
		unmap(r, done);
	else
		registration_close(r);
	return error;
}

/* All ranges in one call: a section is registered once. */
static int tell_of_ranges(struct registration *r)
{
	struct code_text_range *more = malloc((r->count - 1) * sizeof(*more));
	struct code_elf_info info = section_info(r);
	int error;

	if (!more)
		return -ENOMEM;
	for (size_t i = 1; i < r->count; i++)
		more[i - 1] = r->ranges[i].text;
	info.text_ranges = (uintptr_t)more;
	info.text_range_count = (uint32_t)(r->count - 1);
	error = linux_calls_codectl(&r->registry->kernel, CODE_REGISTER_ELF, &info, sizeof(info));
	free(more);
	return error;
}

static int tell_of_section(struct registration *r)
{
	const struct code_text_range *text = &r->ranges[0].text;
	const struct sframe_setup setup = {.sframe_start = r->code.table,
					   .sframe_size = r->code.table_size,
					   .text_start = text->start,
					   .text_size = text->end - text->start};

	/* a compiled table is here a copy, and a kernel takes one by its file */
	if (r->code.kind != CODE_SECTION)
		return -ENODATA;
	/* it would take starts of functions from where the table is */
	if (!r->code.sframe.data || r->code.sframe.addr != r->key || r->code.table != r->key)
		return -ENODATA;
	return r->count > 1 ? tell_of_ranges(r)
			    : linux_calls_register(&r->registry->kernel, &setup);
}

/* A kernel that does not want a table says nothing of what the process keeps. */
static void tell_kernel(struct registration *r)
{
	const struct code_jit_info jit = jit_info(r);

	if (r->code.kind == CODE_JIT)
		r->in_kernel = !linux_calls_codectl(&r->registry->kernel, CODE_REGISTER_JIT, &jit,
						    sizeof(jit));
	else
		r->in_kernel = !tell_of_section(r);
}

int registry_insert(struct registry *registry, const struct code_request *request,
		    enum bobbin_code_place *ret)
{
	struct registration *r;
	int error;

	if (registration_index_find(&registry->index, request->key))
		return -EEXIST;
	error = registration_open(request, &r);
	if (error)
		return error;
	r->registry = registry;
	r->code.release = release;
	error = make_room(registry->map, request);
	if (!error)
		error = registration_index_add(&registry->index, r);
	if (error) {
		registration_close(r);
		return error;
	}
	r->id = ++registry->last_id;
	error = map_and_publish(r);
	if (error)
		return error;
	r->owned = request->owned;
	r->free_owned = request->free_owned;
	tell_kernel(r);
	*ret = r->in_kernel ? BOBBIN_CODE_IN_KERNEL : BOBBIN_CODE_IN_PROCESS;
	return 0;
}

/* They ascend, and the one that the caller named first may be any. */
static bool has_range(const struct registration *r, const struct code_text_range *text)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->ranges[i].text.start == text->start && r->ranges[i].text.end == text->end)
			return true;
	return false;
}

static bool is_match(const struct registration *r, const struct code_match *match)
{
	if (match->kinds && !(match->kinds & 1u << r->code.kind))
		return false;
	if (match->added != r->added || (match->table && match->table != r->code.table))
		return false;
	return !match->text.end || has_range(r, &match->text);
}

int registry_unregister(struct registry *registry, const struct code_match *match)
{
	struct registration *r;

	registry_lock(registry);
	r = registration_index_find(&registry->index, match->key);
	if (r && !is_match(r, match))
		r = NULL;
	if (r) {
		forget_in_kernel(registry, r);
		registration_index_remove(&registry->index, r);
		unmap(r, r->count);
	}
	registry_unlock(registry);
	return r ? 0 : -ENOENT;
}

int registry_remove(struct registry *registry, uint64_t key)
{
	return registry_unregister(registry, &(struct code_match){.key = key, .added = true});
}

int registry_add_section(struct registry *registry, uint64_t key, void *section, size_t size,
			 const struct code_text_range *ranges, size_t count,
			 void (*free_section)(void *))
{
	struct code_text_range *sorted = calloc(count ? count : 1, sizeof(*sorted));
	struct code_request request = {.kind = CODE_SECTION,
				       .key = key,
				       .ranges = sorted,
				       .count = count,
				       .table = (uintptr_t)section,
				       .table_size = size,
				       .owned = section,
				       .free_owned = free_section,
				       .added = true};
	enum bobbin_code_place place;
	int error;

	if (!sorted)
		return -ENOMEM;
	if (count)
		memcpy(sorted, ranges, count * sizeof(*sorted));
	error = check_ranges(sorted, count);
	if (!error)
		error = check_section(section, size, (uintptr_t)section, sorted, count, NULL,
				      &request.sframe);
	if (!error) {
		registry_lock(registry);
		error = registry_insert(registry, &request, &place);
		registry_unlock(registry);
	}
	free(sorted);
	return error;
}

void registry_drop(struct registry *registry, struct code *code, const struct bobbin_error *error)
{
	struct registration *r = (struct registration *)code;

	if (!dropped_mark(&code->dropped, error))
		return;
	/* rules that were taken from it hold no more */
	code_map_tables_changed(registry->map);
	if (code->release != release || !registry->page)
		return;
	for (size_t i = 0; i < r->count; i++) {
		uint32_t number = atomic_load(&r->ranges[i].number);

		if (number != UNPUBLISHED)
			tell_dropped(r, number);
	}
}

void registry_forked(struct registry *registry)
{
	pthread_mutex_init(&registry->lock, NULL);
	code_map_forked(registry->map);
	own_mappings_fini(&registry->mappings);
	if (registry->page)
		page_writer_forked(registry->page);
}
