/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/unwinder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "codemap/struct_copy.h"
#include "core/deps.h"
#include "target/backing_file.h"
#include "unwind/inference_queue.h"
#include "unwind/inferred_rules.h"
#include "unwind/remote_update.h"
#include "unwind/space.h"

/*
 * Bytes of tables that all files together hold at most: who runs many files, with sections that
 * are holes or compressed, must not take all memory.
 */
#define MODULES_MAX ((uint64_t)512 << 20)

/*
 * Of those that can be read again the least recently used are forgotten from there on.  libLLVM
 * has 6 MiB.
 */
#define RESTING_MAX ((uint64_t)8 << 20)

/* What is mapped from an offset on, if it is no code of the file itself. */
struct inner_module {
	uint64_t mapped;
	struct module *module; /* NULL: no ELF file either */
	int tried_pid;         /* through which the file was looked at */
};

/* For more mappings of one file no ELF files are looked for. */
#define INNER_MAX 64

/* A file's tables, once somebody asked for them. */
struct module_slot {
	struct module *module;
	struct inner_module *inner; /* of files inside of it */
	size_t inner_count, inner_room;
	bool tried;
	bool left_out; /* there was no room for its tables */
	int tried_pid; /* through which it could not be opened */
	uint64_t used; /* when last */
	uint64_t held; /* bytes of tables, those of inner files, too */
	uint64_t rests_from;
};

/* Keep a string of the caller's; NULL stays NULL. */
static int copy_string(const char **string, char **copy)
{
	if (!*string)
		return 0;
	*string = *copy = strdup(*string);
	return *copy ? 0 : -ENOMEM;
}

static int copy_options(const struct bobbin_unwinder_options *options, struct bobbin_unwinder *u)
{
	int r = 0;

	if (options && options->size)
		r = struct_copy(&u->options, sizeof(u->options), options, options->size);
	if (!r)
		r = copy_string(&u->options.debug_path, &u->debug_path);
	return r ? r : copy_string(&u->options.sframe_path, &u->sframe_path);
}

int unwinder_open(const struct bobbin_unwinder_options *options, const struct infer_ops *infer,
		  struct bobbin_unwinder **ret)
{
	struct bobbin_unwinder *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		return -ENOMEM;
	u->registered.limit = REMOTE_ALL_BYTES;
	u->context.options = &u->options;
	u->context.infer = infer;
	u->context.made = &u->inferred;
	u->registered.infer = infer;
	r = copy_options(options, u);
	/* without it everything works, a little slower */
	if (!r && u->options.cache_path && *u->options.cache_path)
		table_cache_open(u->options.cache_path, 0, NULL, &u->context.cache);
	if (!r && u->options.code_later)
		r = inference_queue_open(u->options.cache_path, inferred_rules_work,
					 &u->context.queue);
	u->options.cache_path = NULL;
	if (!r && u->options.deadline_ms)
		r = process_reader_open(u->options.deadline_ms, &u->context.reader);
	if (r)
		bobbin_unwinder_close(u);
	else
		*ret = u;
	return r;
}

BOBBIN_API int bobbin_unwinder_open(const struct bobbin_unwinder_options *options,
				    struct bobbin_unwinder **ret)
{
	return unwinder_open(options, NULL, ret);
}

static void close_slot(struct module_slot *slot)
{
	module_close(slot->module);
	for (size_t i = 0; i < slot->inner_count; i++)
		module_close(slot->inner[i].module);
	free(slot->inner);
}

BOBBIN_API void bobbin_unwinder_close(struct bobbin_unwinder *unwinder)
{
	if (!unwinder)
		return;
	inference_queue_close(unwinder->context.queue);
	for (uint32_t i = 0; i < unwinder->module_count; i++)
		close_slot(&unwinder->modules[i]);
	made_code_close(unwinder->made);
	kept_code_close(unwinder->kept);
	table_cache_close(unwinder->context.cache);
	free(unwinder->modules);
	free(unwinder->debug_path);
	free(unwinder->sframe_path);
	process_reader_close(unwinder->context.reader);
	file_table_fini(&unwinder->files);
	free(unwinder);
}

BOBBIN_API int bobbin_space_open(struct bobbin_unwinder *unwinder, const struct bobbin_arch *arch,
				 struct bobbin_space **ret)
{
	return space_open(&unwinder->files, unwinder->context.reader, arch, ret);
}

BOBBIN_API void bobbin_unwinder_process_memory(struct bobbin_unwinder *unwinder, int pid,
					       struct bobbin_process_memory *memory)
{
	bobbin_process_memory_init(memory, pid);
	memory->reader = unwinder->context.reader;
}

void unwinder_files_since(struct bobbin_unwinder *unwinder, uint64_t since, bool here)
{
	file_table_since(&unwinder->files, since, here);
}

struct process_reader *unwinder_reader(struct bobbin_unwinder *unwinder)
{
	return unwinder->context.reader;
}

int unwinder_update_code(struct bobbin_unwinder *unwinder, struct bobbin_space *space, int pid,
			 unsigned int sources)
{
	return remote_code_update(space, pid, sources, &unwinder->registered);
}

void unwinder_share_code(struct bobbin_unwinder *unwinder, double share)
{
	if (unwinder->context.queue)
		inference_queue_share(unwinder->context.queue, share);
}

bool unwinder_finish_code(struct bobbin_unwinder *unwinder,
			  const volatile sig_atomic_t *interrupted)
{
	return unwinder->context.queue &&
	       inference_queue_finish(unwinder->context.queue, interrupted);
}

uint64_t unwinder_missed_code(const struct bobbin_unwinder *unwinder)
{
	return unwinder->context.queue ? inference_queue_missed(unwinder->context.queue) : 0;
}

uint64_t unwinder_analysed_code(const struct bobbin_unwinder *unwinder)
{
	return unwinder->context.queue ? inference_queue_done(unwinder->context.queue) : 0;
}

bool unwinder_await_code(struct bobbin_unwinder *unwinder, uint64_t until)
{
	return unwinder->context.queue && inference_queue_next(unwinder->context.queue, until);
}

uint64_t unwinder_left_out(const struct bobbin_unwinder *unwinder)
{
	return unwinder->registered.left_out;
}

BOBBIN_API int bobbin_space_update_code(struct bobbin_unwinder *unwinder,
					struct bobbin_space *space, int pid)
{
	return unwinder_update_code(unwinder, space, pid, REMOTE_SOURCES);
}

static struct module_slot *slot_of(struct bobbin_unwinder *u, uint32_t number)
{
	if (vector_reserve(&u->modules, &u->module_room, (size_t)number + 1, sizeof(*u->modules)))
		return NULL;
	while (u->module_count <= number)
		u->modules[u->module_count++] = (struct module_slot){0};
	return &u->modules[number];
}

/* Once, and again if it could not be opened and another process maps it. */
static bool must_try(const struct module_slot *slot, const struct mapped_file *file)
{
	return !slot->tried || (!slot->module && !slot->left_out && slot->tried_pid != file->pid);
}

static void measure(struct bobbin_unwinder *u, struct module_slot *slot)
{
	u->held -= slot->held;
	u->rests_from -= slot->rests_from;
	slot->rests_from = slot->module ? module_rests_from(slot->module) : 0;
	slot->held = slot->module ? module_held(slot->module) : 0;
	for (size_t i = 0; i < slot->inner_count; i++)
		if (slot->inner[i].module)
			slot->held += module_held(slot->inner[i].module);
	u->held += slot->held;
	u->rests_from += slot->rests_from;
}

/* The one with something to forget, but for @but, that was asked for the longest time ago; or NULL. */
static struct module_slot *least_recent(struct bobbin_unwinder *u, const struct module_slot *but)
{
	struct module_slot *least = NULL;

	for (uint32_t i = 0; i < u->module_count; i++) {
		struct module_slot *slot = &u->modules[i];

		if (slot != but && slot->rests_from && module_rests_from(slot->module) &&
		    (!least || slot->used < least->used))
			least = slot;
	}
	return least;
}

static uint64_t room_left(const struct bobbin_unwinder *u)
{
	return u->held < MODULES_MAX ? MODULES_MAX - u->held : 0;
}

/* Before @next is asked.  The one before it may have read again what it had forgotten. */
static void bound_modules(struct bobbin_unwinder *u, struct module_slot *next)
{
	struct module_slot *slot;

	/* mostly the same file as before: it is measured before another one is asked */
	if (next == &u->modules[u->last])
		return;
	measure(u, &u->modules[u->last]);
	u->last = (uint32_t)(next - u->modules);
	next->used = ++u->clock;
	while (u->rests_from > RESTING_MAX && (slot = least_recent(u, next))) {
		module_rest(slot->module);
		measure(u, slot);
	}
}

struct module *unwinder_file_module(struct bobbin_unwinder *unwinder,
				    const struct mapped_file *file)
{
	struct module_slot *slot = slot_of(unwinder, file->number);
	int r;

	if (!slot)
		return NULL;
	bound_modules(unwinder, slot);
	if (!must_try(slot, file))
		return slot->module;
	slot->tried = true;
	slot->tried_pid = file->pid;
	if (file->kind != FILE_REGULAR && file->kind != FILE_VDSO)
		return NULL;
	r = module_open(&unwinder->context, file, room_left(unwinder), &slot->module);
	slot->left_out = r == -ENOBUFS;
	return r ? NULL : slot->module;
}

static void open_inner(struct bobbin_unwinder *u, const struct mapped_file *file,
		       struct inner_module *inner)
{
	int fd = unwinder_file_open(u, file);

	inner->tried_pid = file->pid;
	if (fd >= 0)
		module_open_inner(&u->context, fd, inner->mapped, room_left(u), &inner->module);
}

/* The files inside of a file, one after the other, are mapped as if they were alone. */
static struct module *inner_module_at(struct bobbin_unwinder *u, const struct mapped_file *file,
				      uint64_t mapped, uint64_t offset, uint64_t *vaddr)
{
	struct module_slot *slot = slot_of(u, file->number);
	struct inner_module *inner = NULL;

	/* the first one would be the file itself */
	if (!slot || file->kind != FILE_REGULAR || !mapped)
		return NULL;
	for (size_t i = 0; i < slot->inner_count; i++) {
		struct inner_module *at = &slot->inner[i];

		if (at->module && elf_image_vaddr(&at->module->image, offset, vaddr))
			return at->module;
		if (at->mapped == mapped)
			inner = at;
	}
	if (inner && (inner->module || inner->tried_pid == file->pid))
		return NULL;
	if (!inner && (slot->inner_count == INNER_MAX ||
		       vector_push(slot->inner, slot->inner_count, slot->inner_room,
				   (struct inner_module){.mapped = mapped})))
		return NULL;
	inner = inner ? inner : &slot->inner[slot->inner_count - 1];
	open_inner(u, file, inner);
	return inner->module && elf_image_vaddr(&inner->module->image, offset, vaddr)
		       ? inner->module
		       : NULL;
}

struct module *unwinder_module_at(struct bobbin_unwinder *unwinder, const struct mapped_file *file,
				  uint64_t mapped, uint64_t offset, uint64_t *vaddr)
{
	struct module *module = unwinder_file_module(unwinder, file);

	if (module && elf_image_vaddr(&module->image, offset, vaddr))
		return module;
	return inner_module_at(unwinder, file, mapped, offset, vaddr);
}

struct module *unwinder_module_in(struct bobbin_unwinder *unwinder, const struct mapping *mapping,
				  uint64_t addr, uint64_t *vaddr)
{
	return mapping ? unwinder_module_at(unwinder, mapping->file, mapping->offset,
					    mapping_offset(mapping, addr), vaddr)
		       : NULL;
}

int unwinder_file_open(struct bobbin_unwinder *unwinder, const struct mapped_file *file)
{
	struct module *module = unwinder_file_module(unwinder, file);
	int fd;

	if (!module || module->fd < 0)
		return backing_file_open(unwinder->context.reader, file,
					 unwinder->options.debug_path);
	fd = fcntl(module->fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

static bool is_left_out(const struct bobbin_unwinder *u, const struct mapped_file *file)
{
	return file->number < u->module_count && u->modules[file->number].left_out;
}

struct module *unwinder_module(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
			       uint64_t addr)
{
	const struct mapping *m = space_find(space, addr);
	uint64_t vaddr;
	struct module *module = unwinder_module_in(unwinder, m, addr, &vaddr);

	return module || !m ? module : unwinder_file_module(unwinder, m->file);
}

BOBBIN_API void bobbin_unwinder_preload(struct bobbin_unwinder *unwinder,
					struct bobbin_space *space, uint64_t addr)
{
	unwinder_module(unwinder, space, addr);
}

/* Registered code is where it is: it has no file whose space to count in. */
static bool registered_function(const struct bobbin_space *space, uint64_t addr, uint64_t *ret)
{
	const struct remote_range *range = remote_code_find(space->remote, addr);

	return range && range->table && table_set_function(&range->table->tables, addr, ret);
}

bool unwinder_is_made(struct bobbin_unwinder *unwinder, struct bobbin_space *space, uint64_t addr)
{
	const struct mapping *m = space_find(space, addr);
	uint64_t vaddr;

	return m && !unwinder_module_in(unwinder, m, addr, &vaddr) &&
	       !unwinder_file_module(unwinder, m->file) && !remote_code_find(space->remote, addr);
}

void unwinder_keep_code(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
			const void *words, size_t count)
{
	const uint8_t *at = words;
	uint64_t word;

	if (!space->live_pid)
		return;
	for (size_t i = 0; i < count; i++) {
		memcpy(&word, at + i * sizeof(word), sizeof(word));
		if (!unwinder_is_made(unwinder, space, word))
			continue;
		if (!unwinder->kept)
			unwinder->kept = kept_code_open();
		if (unwinder->kept)
			kept_code_add(unwinder->kept, unwinder->context.reader, space->live_pid,
				      word);
	}
}

BOBBIN_API int bobbin_function_start(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
				     uint64_t addr, uint64_t *ret, uint64_t *offset)
{
	const struct mapping *m = space_find(space, addr);
	uint64_t vaddr, start;
	struct module *module = unwinder_module_in(unwinder, m, addr, &vaddr);

	if (module && table_set_function(&module->tables, vaddr, &start)) {
		*ret = start;
		*offset = vaddr - start;
		return 0;
	}
	if (!registered_function(space, addr, &start))
		return -ENOENT;
	*ret = start;
	*offset = addr - start;
	return 0;
}

/*
 * false: there is more to know, the file cannot be opened now, or registers decide, see
 * step_after_syscall().
 */
static bool ask_file(struct bobbin_unwinder *u, const struct mapping *m, uint64_t offset,
		     struct bobbin_rule *rule, enum bobbin_source *source)
{
	uint64_t vaddr;
	struct module *at = unwinder_module_at(u, m->file, m->offset, offset, &vaddr);
	struct module *module = at ? at : unwinder_file_module(u, m->file);
	struct table_answer answer;

	*source = BOBBIN_SOURCE_NONE;
	*rule = bobbin_rule_none(BOBBIN_REASON_NO_TABLE);
	if (!module && is_left_out(u, m->file))
		*rule = bobbin_rule_none(BOBBIN_REASON_NO_ROOM);
	if (!module || !module_rule(module, offset, &answer))
		return module;
	*source = answer.source;
	*rule = answer.row.rule;
	/* what an inferred rule leads to is checked, each time */
	if (*source == BOBBIN_SOURCE_CODE || module->inferred.waits)
		return false;
	return *source != BOBBIN_SOURCE_NONE || !module_after_syscall(module, offset);
}

/* The rule that is cached under a key; false: none, or @key is 0. */
static bool find_cached(const struct bobbin_unwinder *u, uint64_t key, struct bobbin_rule *rule,
			enum bobbin_source *source)
{
	const struct cached_rule *cached = key ? rule_cache_get(u->cache, UNWINDER_CACHE_BITS, key)
					       : NULL;

	if (!cached)
		return false;
	*source = cached_source(cached);
	bobbin_rule_unpack(cached->word, rule);
	return true;
}

static enum bobbin_source mapped_rule(struct bobbin_unwinder *u, const struct mapping *m,
				      uint64_t pc, struct bobbin_rule *ret)
{
	uint64_t offset = mapping_offset(m, pc);
	uint64_t key = rule_cache_key(m->file->number, offset);
	enum bobbin_source source;

	if (!find_cached(u, key, ret, &source) && ask_file(u, m, offset, ret, &source))
		rule_cache_put(u->cache, UNWINDER_CACHE_BITS, key, ret, (uint8_t)source);
	return source;
}

/*
 * Of registered code; false: its table does not know the address.  That is not
 * kept: a JIT table may know it later.
 */
static bool remote_rule(struct bobbin_unwinder *u, const struct bobbin_space *space, uint64_t pc,
			struct bobbin_rule *rule, enum bobbin_source *source)
{
	const struct remote_range *range = remote_code_find(space->remote, pc);
	struct table_answer answer;
	uint64_t key = 0;
	bool covered;

	if (!range || !remote_range_serves(range))
		return false;
	if (range->place != REMOTE_NOWHERE)
		key = remote_rule_key(range->place + (pc - range->start));
	if (find_cached(u, key, rule, source))
		return true;
	covered = table_set_row(&range->table->tables, pc, &answer);
	u->registered.drops += answer.dropped.reason != BOBBIN_REASON_NONE;
	if (!covered)
		return false;
	*source = answer.source;
	*rule = answer.row.rule;
	rule_cache_put(u->cache, UNWINDER_CACHE_BITS, key, rule, (uint8_t)*source);
	return true;
}

enum bobbin_source unwinder_rule(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
				 uint64_t pc, struct bobbin_rule *ret)
{
	enum bobbin_source source;
	const struct mapping *m;

	if (space->remote && remote_rule(unwinder, space, pc, ret, &source))
		return source;
	m = space_find(space, pc);
	if (m)
		return mapped_rule(unwinder, m, pc, ret);
	*ret = bobbin_rule_none(BOBBIN_REASON_NO_MAPPING);
	return BOBBIN_SOURCE_NONE;
}
