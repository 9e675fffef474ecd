/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/table_set.h"

#include <errno.h>

#include "cfi/cfi_step.h"
#include "codemap/code_map.h"
#include "core/deps.h"
#include "core/frame_rules.h"
#include "core/refusal.h"
#include "golang/pclntab.h"
#include "jit/jit_table.h"
#include "unwind/call_frames.h"
#include "unwind/code_rows.h"
#include "unwind/indexed_sections.h"
#include "unwind/kept_rows.h"
#include "unwind/late_sidefile.h"

/* Of a JIT table that is read from end to end: 12 KiB for each system call. */
#define JIT_ENTRIES_AT_ONCE 512

const enum bobbin_source table_sources[TABLE_SOURCES] = {
	BOBBIN_SOURCE_JIT,      BOBBIN_SOURCE_GO,          BOBBIN_SOURCE_SFRAME,
	BOBBIN_SOURCE_EH_FRAME, BOBBIN_SOURCE_DEBUG_FRAME, BOBBIN_SOURCE_SIDEFILE,
};

/**
 * struct table_type - what differs between kinds of tables
 * @source: who answers
 * @second: who may answer instead, or NONE
 * @drops: a malformed entry is the end of the table; otherwise that of its function
 * @whole: it knows where functions begin, not only where parts of them do
 */
struct table_type {
	enum bobbin_source source, second;
	bool drops, whole;
};

static const struct table_type types[TABLE_KINDS] = {
	[TABLE_REGISTERED] = {BOBBIN_SOURCE_SFRAME, .drops = true},
	[TABLE_JIT] = {BOBBIN_SOURCE_JIT, .drops = true},
	[TABLE_GO] = {BOBBIN_SOURCE_GO, .whole = true},
	[TABLE_SFRAME] = {BOBBIN_SOURCE_SFRAME, .drops = true},
	[TABLE_KEPT] = {BOBBIN_SOURCE_EH_FRAME, BOBBIN_SOURCE_DEBUG_FRAME, .whole = true},
	[TABLE_CALL_FRAMES] = {BOBBIN_SOURCE_EH_FRAME, BOBBIN_SOURCE_DEBUG_FRAME, .whole = true},
	[TABLE_SIDEFILE] = {.source = BOBBIN_SOURCE_SIDEFILE},
	[TABLE_CODE] = {.source = BOBBIN_SOURCE_CODE},
};

/*
 * Whether a section that was empty has been filled.  Who fills it stores the magic
 * number last: half of one is not malformed, and nobody looks for where it may begin.
 */
static bool is_filled(const struct code *code)
{
	const volatile uint8_t *magic = (const volatile uint8_t *)code->table;
	bool filled = code->table_size >= 2 && magic[0] && magic[1];

	BOBBIN_READ_FENCE();
	return filled;
}

static int section_lookup(const struct code *code, const struct bobbin_arch *arch, uint64_t pc,
			  struct bobbin_error *err, struct bobbin_row *ret)
{
	const struct bobbin_sframe_view *view = &code->sframe;
	struct bobbin_sframe_view later;

	if (!view->data) {
		int r;

		if (!is_filled(code))
			return -ENOENT;
		r = bobbin_sframe_view((const void *)code->table, code->table_size, code->table,
				       err, &later);
		if (r)
			return r;
		view = &later;
	}
	if (view->arch != arch)
		return refuse(err, 0, BOBBIN_REASON_SFRAME_ABI);
	return bobbin_sframe_lookup(view, pc, err, ret);
}

/*
 * The row of a table.  0; -ENOENT: it does not cover the PC; -ENODATA: there is no table;
 * -EFAULT: its memory cannot be read; -EBADMSG and @err.
 */
static int lookup(const struct bobbin_arch *arch, const struct table *table, uint64_t pc,
		  struct bobbin_error *err, struct table_answer *ret)
{
	const struct jit_source *jit;
	int r;

	switch (table->kind) {
	case TABLE_REGISTERED:
		return section_lookup(table->data, arch, pc, err, &ret->row);
	case TABLE_JIT:
		jit = table->data;
		return jit_table_lookup(&(struct jit_chain){arch, &jit->info, &jit->mem, err}, pc,
					&ret->row);
	case TABLE_GO:
		return pclntab_lookup(table->data, arch, pc, err, &ret->row);
	case TABLE_SFRAME:
		return indexed_sections_lookup(table->data, pc, err, &ret->row);
	case TABLE_KEPT:
		r = kept_rows_lookup(table->data, pc, &ret->row, &ret->source);
		return r == -EBADMSG ? refuse(err, 0, BOBBIN_REASON_KEPT_TABLE) : r;
	case TABLE_CALL_FRAMES:
		r = call_frames_list(table->data);
		return r ? r : call_frames_lookup(table->data, pc, err, &ret->row, &ret->source);
	case TABLE_SIDEFILE:
		return late_sidefile_lookup(table->data, pc, &ret->row);
	case TABLE_CODE:
		return code_rows_lookup(table->data, pc, &ret->row);
	default:
		return -ENODATA;
	}
}

struct row_sink {
	function_sink sink;
	void *ctx;
};

static int give_row(void *ctx, const struct bobbin_row *row)
{
	const struct row_sink *s = ctx;

	return s->sink(s->ctx, row->start, row->end);
}

static int jit_functions(const struct bobbin_arch *arch, const struct jit_source *jit,
			 function_sink sink, void *ctx)
{
	const struct jit_chain chain = {arch, &jit->info, &jit->mem, NULL};
	struct code_jit_unwind_fre room[JIT_ENTRIES_AT_ONCE];
	struct row_sink s = {sink, ctx};
	int r = jit_table_rows(&chain, room, JIT_ENTRIES_AT_ONCE, give_row, &s);

	return r == -EFAULT ? -EBADMSG : r;
}

static int go_functions(const struct pclntab *t, function_sink sink, void *ctx)
{
	uint64_t start, end;
	int r = 0;

	for (uint32_t i = 0; i < t->count && !r; i++)
		if (!pclntab_entry(t, i, &start, &end))
			r = sink(ctx, start, end);
	return r;
}

/* As table_set_functions(), of one table. */
static int functions(const struct bobbin_arch *arch, const struct table *table,
		     enum bobbin_source source, function_sink sink, void *ctx)
{
	switch (table->kind) {
	case TABLE_JIT:
		return jit_functions(arch, table->data, sink, ctx);
	case TABLE_GO:
		return go_functions(table->data, sink, ctx);
	case TABLE_SFRAME:
		return indexed_sections_functions(table->data, sink, ctx);
	case TABLE_CALL_FRAMES:
		return call_frames_functions(table->data,
					     source == BOBBIN_SOURCE_EH_FRAME ? CALL_FRAMES_EH
									      : CALL_FRAMES_DEBUG,
					     sink, ctx);
	case TABLE_SIDEFILE:
		return late_sidefile_functions(table->data, sink, ctx);
	default:
		return 0;
	}
}

void table_set_init(const struct bobbin_arch *arch, struct table_set *ret)
{
	ret->arch = arch;
	ret->count = 0;
	ret->eh_returns = false;
	ret->entry = ret->entry_size = 0;
	atomic_init(&ret->dropped, 0);
}

void table_set_add(struct table_set *set, enum table_kind kind, void *data)
{
	unsigned int i = set->count++;

	for (; i && set->tables[i - 1].kind > kind; i--)
		set->tables[i] = set->tables[i - 1];
	set->tables[i] = (struct table){kind, data};
}

void table_set_remove(struct table_set *set, enum table_kind kind)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < set->count; i++)
		if (set->tables[i].kind != kind)
			set->tables[kept++] = set->tables[i];
	set->count = kept;
}

void table_set_drop(struct table_set *set, const struct bobbin_error *error)
{
	dropped_mark(&set->dropped, error);
}

static bool is_dropped(const struct table_set *set, const struct table_type *type)
{
	return type->drops && atomic_load_explicit(&set->dropped, memory_order_relaxed);
}

bool table_set_dropped(const struct table_set *set, struct bobbin_error *ret)
{
	uint64_t dropped = atomic_load_explicit(&set->dropped, memory_order_relaxed);

	if (dropped)
		*ret = dropped_error(dropped);
	return dropped;
}

bool table_set_serves(const struct table_set *set)
{
	for (unsigned int i = 0; i < set->count; i++)
		if (!is_dropped(set, &types[set->tables[i].kind]))
			return true;
	return false;
}

static void *find_table(const struct table_set *set, enum table_kind kind)
{
	for (unsigned int i = 0; i < set->count; i++)
		if (set->tables[i].kind == kind)
			return set->tables[i].data;
	return NULL;
}

bool table_set_has(const struct table_set *set, enum table_kind kind)
{
	return find_table(set, kind);
}

unsigned int table_set_version(const struct table_set *set)
{
	const struct indexed_sections *sections = find_table(set, TABLE_SFRAME);

	return sections && sections->count ? sections->list[0].view.version : 0;
}

/*
 * 0; -ENOENT: the table does not cover the PC; -ENODATA: it is none, or not any more;
 * -EFAULT, -EBADMSG: it has failed just now.
 */
static int ask(struct table_set *set, const struct table *table, uint64_t pc,
	       struct table_answer *ret)
{
	const struct table_type *type = &types[table->kind];
	struct bobbin_error error;
	int r;

	if (is_dropped(set, type))
		return -ENODATA;
	/* it has been asked in another form */
	if (table->kind == TABLE_CALL_FRAMES && table_set_has(set, TABLE_KEPT))
		return -ENOENT;
	ret->source = type->source;
	r = lookup(set->arch, table, pc, &error, ret);
	if (r != -EBADMSG)
		return r;
	if (!type->drops) {
		ret->row.rule = bobbin_rule_none(error.reason);
		return 0;
	}
	table_set_drop(set, &error);
	ret->dropped = error;
	return r;
}

bool table_set_is_entry(struct table_set *set, uint64_t pc)
{
	uint64_t first, function;

	if (!set->entry || pc < set->entry || pc - set->entry >= set->entry_size)
		return false;
	/* tables that know the first function also know what is no part of it */
	return !table_set_function(set, set->entry, &first) ||
	       (table_set_function(set, pc, &function) && function == first);
}

/*
 * The first function of a program has no caller, whatever its table says: compilers do
 * not know that it is the first.
 */
static void check_entry(const struct table_set *set, struct table_answer *ret)
{
	if (!set->entry || ret->row.function != set->entry || ret->source == BOBBIN_SOURCE_GO ||
	    ret->row.rule.ra.how == BOBBIN_HOW_UNDEFINED)
		return;
	ret->source = BOBBIN_SOURCE_ENTRY;
	ret->row.rule = outermost_rule(set->arch);
}

/* No table covers the address; @failed: the last one that should and could not. */
static void answer_without(struct table_set *set, uint64_t pc, int failed, bool has_tables,
			   struct table_answer *ret)
{
	if (table_set_is_entry(set, pc)) {
		ret->source = BOBBIN_SOURCE_ENTRY;
		ret->row.rule = outermost_rule(set->arch);
		return;
	}
	ret->source = BOBBIN_SOURCE_NONE;
	ret->row.rule = bobbin_rule_none(failed == -EBADMSG  ? ret->dropped.reason
					 : failed == -EFAULT ? BOBBIN_REASON_NO_MEMORY
					 : has_tables        ? BOBBIN_REASON_NO_FUNCTION
							     : BOBBIN_REASON_NO_TABLE);
}

bool table_set_row(struct table_set *set, uint64_t pc, struct table_answer *ret)
{
	bool has_tables = false;
	int failed = 0;

	ret->row.start = ret->row.function = pc;
	ret->row.end = pc + 1;
	ret->dropped.reason = BOBBIN_REASON_NONE;
	for (unsigned int i = 0; i < set->count; i++) {
		int r = ask(set, &set->tables[i], pc, ret);

		if (!r) {
			check_entry(set, ret);
			return true;
		}
		has_tables |= r == -ENOENT;
		if (r == -EBADMSG || r == -EFAULT)
			failed = r;
	}
	answer_without(set, pc, failed, has_tables, ret);
	return false;
}

void table_set_rule(struct table_set *set, uint64_t pc, const struct code_reader *code, uint64_t at,
		    struct table_answer *ret)
{
	const struct bobbin_arch *arch = set->arch;

	table_set_row(set, pc, ret);
	/* code that is known by its bytes may look like a function */
	if (ret->source == BOBBIN_SOURCE_NONE || ret->source == BOBBIN_SOURCE_CODE) {
		known_code_rule(arch, code, at, &ret->row.rule, &ret->source);
	} else if (ret->row.end == pc + 1 && known_code_root(arch, code, at + 1)) {
		/* the row does not hold for what is after it */
		ret->source = BOBBIN_SOURCE_ENTRY;
		ret->row.rule = outermost_rule(arch);
	} else if (set->eh_returns && known_code_eh_return(arch, code, at)) {
		ret->row.rule = bobbin_rule_none(BOBBIN_REASON_EH_RETURN);
	}
}

enum bobbin_reason table_set_step(const struct table_set *set, uint64_t pc,
				  const struct bobbin_mem *mem, struct table_step *step)
{
	struct call_frames *known = find_table(set, TABLE_CALL_FRAMES);
	enum bobbin_source source;
	struct bobbin_cfi_rows rows;
	struct bobbin_error error;
	struct call_frames frames;
	struct bobbin_row row;
	int r;

	if (!known || call_frames_list(known))
		return BOBBIN_REASON_NO_TABLE;
	frames = *known;
	for (unsigned int i = 0; i < CALL_FRAMES_SECTIONS; i++)
		frames.views[i].arch = step->arch;
	r = call_frames_rows(&frames, pc, &error, &rows, &row, &source);
	if (r)
		return r == -EBADMSG ? error.reason : BOBBIN_REASON_NO_TABLE;
	return cfi_step(&rows, pc, mem, step);
}

static bool function_by(struct table_set *set, const struct table *table, uint64_t pc,
			uint64_t *ret)
{
	struct table_answer answer = {.row.function = pc};
	uint64_t end;

	/* who asks for names does not wait for code to be analysed */
	if (table->kind == TABLE_CODE)
		return false;
	if (table->kind == TABLE_GO)
		return !pclntab_function(table->data, pc, NULL, ret, &end);
	if (ask(set, table, pc, &answer))
		return false;
	*ret = answer.row.function;
	return true;
}

bool table_set_function(struct table_set *set, uint64_t pc, uint64_t *ret)
{
	for (int whole = 1; whole >= 0; whole--)
		for (unsigned int i = 0; i < set->count; i++)
			if (types[set->tables[i].kind].whole == whole &&
			    function_by(set, &set->tables[i], pc, ret))
				return true;
	return false;
}

int table_set_functions(const struct table_set *set, enum bobbin_source source, function_sink sink,
			void *ctx)
{
	int r = 0;

	for (unsigned int i = 0; i < set->count && !r; i++) {
		const struct table_type *type = &types[set->tables[i].kind];

		if ((type->source == source || type->second == source) && !is_dropped(set, type))
			r = functions(set->arch, &set->tables[i], source, sink, ctx);
	}
	return r;
}
