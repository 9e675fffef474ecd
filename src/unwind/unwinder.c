/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walker.  A frame costs a search of the mappings, which mostly ends where
 * the last one did, a look into the cache of rules, and a step.
 *
 * The cache is direct-mapped from (file, address in the file) to the packed
 * rule.  Rules do not depend on where a file is mapped, so all processes share
 * it.  What does not pack is looked up each time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/deps.h"
#include "core/trampoline.h"
#include "target/space.h"
#include "unwind/module.h"

#define CACHE_BITS 15
#define CACHE_SIZE (1u << CACHE_BITS)

struct cached_rule {
	uint64_t offset; /* in the file; the tag together with @file */
	uint64_t word;
	uint32_t file; /* number + 1, 0: empty */
	uint8_t source;
};

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
	struct cached_rule cache[CACHE_SIZE];
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

static void find_rule(struct bobbin_unwinder *u, const struct bobbin_space *space,
		      const struct mapping *m, uint64_t pc, struct bobbin_rule *rule,
		      enum bobbin_source *source)
{
	uint64_t offset = pc - m->start + m->offset, word;
	uint32_t file = m->file->number + 1;
	struct cached_rule *c;

	if (m->file->kind == FILE_VSYSCALL && !space->arch->big_endian) {
		*rule = vsyscall_rule(space->arch);
		*source = BOBBIN_FROM_VSYSCALL;
		return;
	}
	c = &u->cache[(offset * 0x9e3779b97f4a7c15ull + file * 0xc2b2ae3d27d4eb4full) >>
		      (64 - CACHE_BITS)];
	if (c->file == file && c->offset == offset) {
		*rule = bobbin_rule_unpack(c->word);
		*source = (enum bobbin_source)c->source;
		return;
	}
	ask_file(u, m, offset, rule, source);
	if (!bobbin_rule_pack(rule, &word))
		*c = (struct cached_rule){offset, word, file, (uint8_t)*source};
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
	find_rule(w->unwinder, w->space, m, pc, &rule, &source);
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
