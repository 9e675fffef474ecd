/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/process_objects.h"

#include <pthread.h>
#include <sys/auxv.h>

#include "core/bisect.h"
#include "unwind/startup_objects.h"

/*
 * The first @sorted are in the order of their addresses; those that were learned later follow as they
 * came.  Nothing is moved or taken back, so readers need @count alone.
 */
static struct {
	pthread_mutex_t learning;
	_Atomic unsigned int count, sorted;
	struct mapped_tables list[PROCESS_OBJECTS_MAX];
	/* who stays, while it is found out */
	struct startup_object loaded[PROCESS_OBJECTS_MAX];
	struct program_headers headers[PROCESS_OBJECTS_MAX];
} own = {.learning = PTHREAD_MUTEX_INITIALIZER};

struct loaded_list {
	size_t count;
};

static void take_object(const struct dl_phdr_info *info, struct startup_object *object)
{
	*object = (struct startup_object){.name = info->dlpi_name ? info->dlpi_name : "",
					  .bias = info->dlpi_addr,
					  .base = UINT64_MAX};
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_DYNAMIC)
			object->dynamic = (const void *)(uintptr_t)start;
		if (p->p_type == PT_LOAD && start < object->base)
			object->base = start;
	}
	object->soname = dynamic_soname(object->dynamic, object->bias, object->base);
}

static int add_loaded(struct dl_phdr_info *info, size_t size, void *to)
{
	struct loaded_list *list = to;

	(void)size;
	if (list->count == PROCESS_OBJECTS_MAX)
		return 1;
	take_object(info, &own.loaded[list->count]);
	own.headers[list->count++] = (struct program_headers){
		.headers = info->dlpi_phdr, .count = info->dlpi_phnum, .bias = info->dlpi_addr};
	return 0;
}

/* Not all loaders list the kernel's code. */
static void add_vdso(struct loaded_list *list)
{
	const uint64_t start = getauxval(AT_SYSINFO_EHDR);
	struct program_headers headers;

	if (!start || !mapped_headers((const void *)(uintptr_t)start, &headers))
		return;
	for (size_t i = 0; i < list->count; i++)
		if (own.loaded[i].base == start) {
			own.loaded[i].stays = true;
			return;
		}
	if (list->count == PROCESS_OBJECTS_MAX)
		return;
	own.headers[list->count] = headers;
	own.loaded[list->count++] =
		(struct startup_object){.name = "[vdso]", .base = start, .stays = true};
}

/* Where an object that the kernel may have started begins to run, or 0. */
static uint64_t entry_of(const struct startup_object *object, bool program)
{
	const ElfW(Ehdr) *header = (const void *)(uintptr_t)object->base;
	struct program_headers headers;

	if (!program && object->base != getauxval(AT_BASE))
		return 0;
	if (!mapped_headers(header, &headers) || !header->e_entry)
		return 0;
	return headers.bias + header->e_entry;
}

static void list_object(size_t index)
{
	const unsigned int count = atomic_load_explicit(&own.count, memory_order_relaxed);
	struct mapped_tables *tables = &own.list[count];
	uint64_t entry;

	if (count == PROCESS_OBJECTS_MAX || process_objects_find(own.loaded[index].base))
		return;
	mapped_tables_init(&own.headers[index], tables);
	entry = entry_of(&own.loaded[index], !index);
	if (entry >= tables->start && entry < tables->end)
		mapped_tables_enter(tables, entry);
	atomic_store_explicit(&own.count, count + 1, memory_order_release);
}

/* The loaded object with the lowest address from @from on; @count: there is none. */
static size_t next_object(size_t count, uint64_t from)
{
	size_t best = count;

	for (size_t i = 0; i < count; i++)
		if (own.loaded[i].stays && own.loaded[i].base >= from &&
		    own.loaded[i].base != UINT64_MAX &&
		    (best == count || own.loaded[i].base < own.loaded[best].base))
			best = i;
	return best;
}

/* The first ones in the order of their addresses. */
static void list_objects(size_t count)
{
	const bool first = !process_objects_count();
	uint64_t from = 0;

	for (size_t i = next_object(count, from); i < count; i = next_object(count, from)) {
		list_object(i);
		from = own.loaded[i].base + 1;
	}
	if (first)
		atomic_store_explicit(&own.sorted, process_objects_count(), memory_order_release);
}

/* What dl_iterate_phdr() calls once, with the loader's lock: nothing is unloaded meanwhile. */
static int learn(struct dl_phdr_info *info, size_t size, void *nothing)
{
	struct loaded_list list = {0};

	(void)info;
	(void)size;
	(void)nothing;
	dl_iterate_phdr(add_loaded, &list);
	add_vdso(&list);
	startup_objects_mark(own.loaded, list.count, getauxval(AT_BASE));
	/* such loaders never unload */
	for (size_t i = 0; i < list.count && !loader_link_usable(); i++)
		own.loaded[i].stays = true;
	list_objects(list.count);
	return 1;
}

void process_objects_learn(void)
{
	pthread_mutex_lock(&own.learning);
	dl_iterate_phdr(learn, NULL);
	pthread_mutex_unlock(&own.learning);
}

void process_objects_forked(void)
{
	pthread_mutex_init(&own.learning, NULL);
}

unsigned int process_objects_count(void)
{
	return atomic_load_explicit(&own.count, memory_order_acquire);
}

static bool has(const struct mapped_tables *tables, uint64_t addr)
{
	return addr >= tables->start && addr < tables->end;
}

struct mapped_tables *process_objects_find(uint64_t addr)
{
	const unsigned int count = process_objects_count();
	const unsigned int sorted = atomic_load_explicit(&own.sorted, memory_order_acquire);
	const unsigned int after = bisect(i, 0, sorted, own.list[i].start > addr);

	if (after && has(&own.list[after - 1], addr))
		return &own.list[after - 1];
	for (unsigned int i = sorted; i < count; i++)
		if (has(&own.list[i], addr))
			return &own.list[i];
	return NULL;
}

bool process_objects_is_entry(uint64_t addr)
{
	struct mapped_tables *tables = process_objects_find(addr);

	return tables && table_set_is_entry(&tables->set, addr);
}

struct mapped_tables *process_tables(uint64_t pc, struct mapped_tables *room)
{
	struct mapped_tables *tables = process_objects_find(pc);
	struct program_headers headers;
	struct loader_link link;

	if (tables)
		return tables;
	if (!loader_link_find(pc, &link) || !mapped_headers(link.start, &headers))
		return NULL;
	mapped_tables_init(&headers, room);
	return room;
}
