/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walker.  A frame costs a search of the mappings, which mostly ends where
 * the last one did, a look into the cache of rules, and a step.
 *
 * The cache goes from (file, offset in the file) to the packed rule, in sets
 * of four.  Rules do not depend on where a file is mapped, so all processes
 * share it.  What does not pack is looked up each time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/deps.h"
#include "core/trampoline.h"
#include "target/space.h"
#include "unwind/module.h"

#define CACHE_BITS 14
#define CACHE_SETS (1u << CACHE_BITS)
#define CACHE_WAYS 4

struct cached_rule {
	uint64_t key; /* see cache_key(), with the source in KEY_SOURCE; 0: empty */
	uint64_t word;
};

#define KEY_FILE 40   /* bits of an offset */
#define KEY_SOURCE 56 /* and of the number of a file, plus one */

/* A file's tables, once somebody asked for them. */
struct module_slot {
	struct module *module;
	bool tried;
	int tried_pid; /* through which it could not be opened */
};

struct bobbin_unwinder {
	struct bobbin_unwinder_options options;
	char *debug_path;
	struct file_table files;
	struct module_slot *modules; /* by file number */
	uint32_t module_count;
	struct cached_rule cache[CACHE_SETS][CACHE_WAYS];
};

BOBBIN_API const char *bobbin_source_str(enum bobbin_source source)
{
#define SOURCE_TEXT(name, text) text,
	static const char *const texts[] = {BOBBIN_SOURCES(SOURCE_TEXT)};
#undef SOURCE_TEXT

	if ((unsigned int)source >= BOBBIN_SOURCE_COUNT)
		return "unknown";
	return texts[source];
}

static int copy_options(const struct bobbin_unwinder_options *options, struct bobbin_unwinder *u)
{
	size_t size = options ? options->size : 0;
	const uint8_t *bytes = (const uint8_t *)options;

	for (size_t i = sizeof(u->options); i < size; i++)
		if (bytes[i])
			return -E2BIG;
	if (options)
		memcpy(&u->options, options, size < sizeof(u->options) ? size : sizeof(u->options));
	if (!u->options.debug_path)
		return 0;
	u->debug_path = strdup(u->options.debug_path);
	u->options.debug_path = u->debug_path;
	return u->debug_path ? 0 : -ENOMEM;
}

BOBBIN_API int bobbin_unwinder_open(const struct bobbin_unwinder_options *options,
				    struct bobbin_unwinder **ret)
{
	struct bobbin_unwinder *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		return -ENOMEM;
	r = copy_options(options, u);
	if (r)
		bobbin_unwinder_close(u);
	else
		*ret = u;
	return r;
}

BOBBIN_API void bobbin_unwinder_close(struct bobbin_unwinder *unwinder)
{
	if (!unwinder)
		return;
	for (uint32_t i = 0; i < unwinder->module_count; i++)
		module_close(unwinder->modules[i].module);
	free(unwinder->modules);
	free(unwinder->debug_path);
	file_table_fini(&unwinder->files);
	free(unwinder);
}

BOBBIN_API int bobbin_space_open(struct bobbin_unwinder *unwinder, const struct bobbin_arch *arch,
				 struct bobbin_space **ret)
{
	return space_open(&unwinder->files, arch, ret);
}

static struct module_slot *slot_of(struct bobbin_unwinder *u, uint32_t number)
{
	struct module_slot *modules;

	if (number < u->module_count)
		return &u->modules[number];
	modules = realloc(u->modules, u->files.room * sizeof(*modules));
	if (!modules)
		return NULL;
	memset(modules + u->module_count, 0, (u->files.room - u->module_count) * sizeof(*modules));
	u->modules = modules;
	u->module_count = u->files.room;
	return &u->modules[number];
}

static struct module *module_of(struct bobbin_unwinder *u, const struct mapped_file *file)
{
	struct module_slot *slot = slot_of(u, file->number);

	if (!slot)
		return NULL;
	if (!slot->tried || (!slot->module && slot->tried_pid != file->pid)) {
		slot->tried = true;
		slot->tried_pid = file->pid;
		if (file->kind == FILE_REGULAR || file->kind == FILE_VDSO)
			module_open(file, &u->options, NULL, &slot->module);
	}
	return slot->module;
}

BOBBIN_API void bobbin_unwinder_preload(struct bobbin_unwinder *unwinder,
					struct bobbin_space *space, uint64_t addr)
{
	const struct mapping *m = space_find(space, addr);

	if (m)
		module_of(unwinder, m->file);
}

BOBBIN_API int bobbin_function_start(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
				     uint64_t addr, uint64_t *ret)
{
	const struct mapping *m = space_find(space, addr);
	struct module *module = m ? module_of(unwinder, m->file) : NULL;
	enum bobbin_source source;
	struct bobbin_row row;
	uint64_t vaddr;

	if (!module || !elf_image_vaddr(&module->image, addr - m->start + m->offset, &vaddr))
		return -ENOENT;
	module_lookup(module, vaddr, &row, &source);
	if (source == BOBBIN_FROM_NONE || source == BOBBIN_FROM_ENTRY)
		return -ENOENT;
	*ret = row.function;
	return 0;
}

static struct bobbin_place place(enum bobbin_how how, uint8_t reg, int32_t off)
{
	return (struct bobbin_place){.how = (uint8_t)how, .reg = reg, .off = off};
}

/*
 * The frame record of the architecture's ABI: the caller's frame pointer at
 * the frame pointer, the return address behind it.
 */
static struct bobbin_rule frame_pointer_rule(const struct bobbin_arch *arch)
{
	struct bobbin_rule rule = {.index = BOBBIN_NO_INDEX};

	rule.cfa = place(BOBBIN_AT_REG, arch->fp, 16);
	rule.ra = place(BOBBIN_IN_CFA_MEM, 0, -8);
	rule.fp = place(BOBBIN_IN_CFA_MEM, 0, -16);
	return rule;
}

/* mov $nr, %rax; syscall; ret: nothing has been pushed. */
static struct bobbin_rule vsyscall_rule(const struct bobbin_arch *arch)
{
	struct bobbin_rule rule = {.index = BOBBIN_NO_INDEX};

	rule.cfa = place(BOBBIN_AT_REG, arch->sp, 8);
	rule.ra = place(BOBBIN_IN_CFA_MEM, 0, -8);
	rule.fp = place(BOBBIN_SAME, 0, 0);
	return rule;
}

/*
 * A handler returns to the trampoline's first byte, so the address to look up
 * lies before it; a sample inside has the address itself.
 */
static bool is_trampoline(const struct module *module, uint64_t offset, struct bobbin_rule *rule)
{
	const struct bobbin_arch *arch = module->image.arch;
	uint8_t code[TRAMPOLINE_SIZE];

	for (unsigned int i = 0; i < 2; i++)
		if (module_code(module, offset + i, code, sizeof(code)) &&
		    trampoline_rule(arch, code, rule))
			return true;
	return false;
}

static void ask_file(struct bobbin_unwinder *u, const struct mapping *m, uint64_t offset,
		     struct bobbin_rule *rule, enum bobbin_source *source)
{
	struct bobbin_row row;
	struct module *module;
	uint64_t vaddr;

	*source = BOBBIN_FROM_NONE;
	*rule = bobbin_rule_none(BOBBIN_NO_TABLE);
	module = module_of(u, m->file);
	if (!module || !elf_image_vaddr(&module->image, offset, &vaddr))
		return;
	module_lookup(module, vaddr, &row, source);
	*rule = row.rule;
	if (*source == BOBBIN_FROM_NONE && is_trampoline(module, offset, rule))
		*source = BOBBIN_FROM_TRAMPOLINE;
}

/* 0: the place cannot be cached. */
static uint64_t cache_key(uint32_t file, uint64_t offset)
{
	if (offset >> KEY_FILE || file + 1 >= 1u << (KEY_SOURCE - KEY_FILE))
		return 0;
	return (uint64_t)(file + 1) << KEY_FILE | offset;
}

static struct cached_rule *cache_set(struct bobbin_unwinder *u, uint64_t key)
{
	return u->cache[key * 0x9e3779b97f4a7c15ull >> (64 - CACHE_BITS)];
}

/* The newest comes first. */
static void cache_put(struct bobbin_unwinder *u, uint64_t key, const struct bobbin_rule *rule,
		      enum bobbin_source source)
{
	struct cached_rule *set = cache_set(u, key);
	uint64_t word;

	if (!key || bobbin_rule_pack(rule, &word))
		return;
	memmove(&set[1], &set[0], (CACHE_WAYS - 1) * sizeof(*set));
	set[0] = (struct cached_rule){key | (uint64_t)source << KEY_SOURCE, word};
}

static const struct cached_rule *cache_get(struct bobbin_unwinder *u, uint64_t key)
{
	const struct cached_rule *set = cache_set(u, key);

	for (unsigned int i = 0; i < CACHE_WAYS && key; i++)
		if (!((set[i].key ^ key) << (64 - KEY_SOURCE)))
			return &set[i];
	return NULL;
}

/* Not inlined: so the rule is made in its place and not copied, which stalls. */
static __attribute__((noinline)) struct bobbin_rule find_rule(struct bobbin_unwinder *u,
							      const struct bobbin_space *space,
							      const struct mapping *m, uint64_t pc,
							      enum bobbin_source *source)
{
	uint64_t offset = pc - m->start + m->offset;
	uint64_t key = cache_key(m->file->number, offset);
	const struct cached_rule *cached = cache_get(u, key);
	struct bobbin_rule rule;

	if (cached) {
		*source = (enum bobbin_source)(cached->key >> KEY_SOURCE);
		return bobbin_rule_unpack(cached->word);
	}
	if (m->file->kind == FILE_VSYSCALL && !space->arch->big_endian) {
		*source = BOBBIN_FROM_VSYSCALL;
		return vsyscall_rule(space->arch);
	}
	ask_file(u, m, offset, &rule, source);
	cache_put(u, key, &rule, *source);
	return rule;
}

struct walk {
	struct bobbin_unwinder *unwinder;
	struct bobbin_space *space;
	const struct bobbin_mem *mem;
	struct bobbin_regs regs;
	uint64_t gpr[BOBBIN_REG_COUNT];
};

/* A frame record may be anything at all: what it names must be code. */
static enum bobbin_reason step_by_frame_pointer(struct walk *w, struct bobbin_frame *frame,
						enum bobbin_reason without)
{
	struct bobbin_rule rule = frame_pointer_rule(w->space->arch);
	struct bobbin_regs caller = w->regs;

	/* no architecture but these two keeps such records; s390x has none */
	if (w->space->arch->cfa_bias || !w->regs.fp)
		return without;
	if (bobbin_step(w->space->arch, &rule, w->mem, &caller))
		return without;
	if (!space_find(w->space, caller.pc - 1))
		return without;
	frame->source = BOBBIN_FROM_FRAME_POINTER;
	w->regs = caller;
	return BOBBIN_NONE;
}

/* What a signal interrupted has all of its registers in the signal frame. */
static void load_interrupted(struct walk *w, uint64_t sp)
{
	const struct bobbin_arch *arch = w->space->arch;

	w->regs.gpr_known = trampoline_registers(arch, w->mem, sp, w->gpr);
	w->regs.gpr = w->gpr;
	if (!arch->default_ra_off && w->regs.gpr_known >> arch->ra & 1) {
		w->regs.ra = w->gpr[arch->ra];
		w->regs.ra_known = true;
	}
}

static enum bobbin_reason walk_on(struct walk *w, struct bobbin_frame *frame)
{
	uint64_t sp = w->regs.sp, pc = bobbin_regs_lookup_pc(&w->regs);
	const struct mapping *m = space_find(w->space, pc);
	enum bobbin_source source = BOBBIN_FROM_NONE;
	struct bobbin_rule rule;
	enum bobbin_reason reason;

	if (!m)
		return step_by_frame_pointer(w, frame, BOBBIN_NO_MAPPING);
	rule = find_rule(w->unwinder, w->space, m, pc, &source);
	frame->source = (uint8_t)source;
	if (source == BOBBIN_FROM_NONE)
		return step_by_frame_pointer(w, frame, (enum bobbin_reason)rule.reason);

	reason = bobbin_step(w->space->arch, &rule, w->mem, &w->regs);
	if (!reason && rule.flags & BOBBIN_RULE_SIGNAL)
		load_interrupted(w, sp);
	/* glibc's and the ABI's mark of the outermost frame where CFI has none */
	if (!reason && !w->regs.pc)
		return BOBBIN_OUTERMOST;
	return reason;
}

BOBBIN_API void bobbin_unwind(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
			      const struct bobbin_regs *regs, const struct bobbin_mem *mem,
			      struct bobbin_trace *trace)
{
	struct walk w = {.unwinder = unwinder, .space = space, .mem = mem, .regs = *regs};
	uint32_t max = trace->max < BOBBIN_MAX_DEPTH ? trace->max : BOBBIN_MAX_DEPTH;

	trace->reason = BOBBIN_DEPTH;
	for (trace->count = 0; trace->count < max;) {
		struct bobbin_frame *frame = &trace->frames[trace->count++];

		*frame = (struct bobbin_frame){.pc = w.regs.pc, .exact = w.regs.exact};
		trace->reason = walk_on(&w, frame);
		if (trace->reason)
			return;
	}
	trace->reason = BOBBIN_DEPTH;
}
