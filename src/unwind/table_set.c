/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/table_set.h"

#include <errno.h>

#include "codemap/dropped_mark.h"
#include "core/deps.h"
#include "core/frame_rules.h"

/* Of a function; most have ten. */
#define EXTENT_ROWS 256

void table_set_init(const struct bobbin_arch *arch, struct table_set *ret)
{
	ret->arch = arch;
	ret->count = 0;
	ret->eh_returns = false;
	ret->entry = ret->entry_size = 0;
	atomic_init(&ret->dropped, 0);
}

void table_set_add(struct table_set *set, const struct table_ops *ops, void *data)
{
	unsigned int i = set->count++;

	for (; i && set->tables[i - 1].ops->kind > ops->kind; i--)
		set->tables[i] = set->tables[i - 1];
	set->tables[i] = (struct table){ops, data};
}

void table_set_remove(struct table_set *set, enum table_kind kind)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < set->count; i++)
		if (set->tables[i].ops->kind != kind)
			set->tables[kept++] = set->tables[i];
	set->count = kept;
}

void table_set_drop(struct table_set *set, const struct bobbin_error *error)
{
	dropped_mark(&set->dropped, error);
}

static bool is_dropped(const struct table_set *set, const struct table_ops *ops)
{
	return ops->drops && atomic_load_explicit(&set->dropped, memory_order_relaxed);
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
		if (!is_dropped(set, set->tables[i].ops))
			return true;
	return false;
}

void *table_set_find(const struct table_set *set, enum table_kind kind)
{
	for (unsigned int i = 0; i < set->count; i++)
		if (set->tables[i].ops->kind == kind)
			return set->tables[i].data;
	return NULL;
}

/* Another form of the table before it, which has been asked. */
static bool is_other_form(const struct table_set *set, const struct table *table)
{
	return table != set->tables && table[-1].ops->sources[0] == table->ops->sources[0];
}

/*
 * 0; -ENOENT: the table does not cover the PC; -ENODATA: it is none, or not any more;
 * -EFAULT, -EBADMSG: it has failed just now.
 */
static int ask(struct table_set *set, const struct table *table, uint64_t pc,
	       struct table_answer *ret)
{
	const struct table_ops *ops = table->ops;
	struct bobbin_error error;
	int r;

	if (is_dropped(set, ops))
		return -ENODATA;
	if (is_other_form(set, table))
		return -ENOENT;
	ret->source = ops->sources[0];
	r = ops->lookup(table->data, set->arch, pc, &error, ret);
	if (r != -EBADMSG)
		return r;
	if (!ops->drops) {
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
	for (unsigned int i = 0; i < set->count; i++)
		if (set->tables[i].ops->step)
			return set->tables[i].ops->step(set->tables[i].data, pc, mem, step);
	return BOBBIN_REASON_NO_TABLE;
}

static bool function_by(struct table_set *set, const struct table *table, uint64_t pc,
			uint64_t *ret)
{
	struct table_answer answer = {.row.function = pc};

	if (table->ops->function)
		return table->ops->function(table->data, pc, ret);
	if (ask(set, table, pc, &answer))
		return false;
	*ret = answer.row.function;
	return true;
}

bool table_set_function(struct table_set *set, uint64_t pc, uint64_t *ret)
{
	for (int whole = 1; whole >= 0; whole--)
		for (unsigned int i = 0; i < set->count; i++)
			if (set->tables[i].ops->whole == whole &&
			    function_by(set, &set->tables[i], pc, ret))
				return true;
	return false;
}

/* The same of one table. */
static bool extent_by(struct table_set *set, const struct table *table, uint64_t function,
		      struct table_answer *first, uint64_t *end)
{
	struct table_answer next;

	if (ask(set, table, function, first) || first->row.function != function)
		return false;
	*end = first->row.end;
	for (unsigned int i = 0; i < EXTENT_ROWS; i++) {
		if (ask(set, table, *end, &next) || next.row.function != function)
			return true;
		*end = next.row.end;
	}
	return false;
}

bool table_set_extent(struct table_set *set, uint64_t pc, struct table_answer *first, uint64_t *end)
{
	struct table_answer at;

	for (unsigned int i = 0; i < set->count; i++)
		if (!ask(set, &set->tables[i], pc, &at))
			return extent_by(set, &set->tables[i], at.row.function, first, end);
	return false;
}

int table_set_functions(const struct table_set *set, enum bobbin_source source, function_sink sink,
			void *ctx)
{
	int r = 0;

	for (unsigned int i = 0; i < set->count && !r; i++) {
		const struct table *table = &set->tables[i];
		const struct table_ops *ops = table->ops;

		if ((ops->sources[0] == source || ops->sources[1] == source) && ops->functions &&
		    !is_dropped(set, ops))
			r = ops->functions(table->data, set->arch, source, sink, ctx);
	}
	return r;
}

unsigned int table_set_sources(const struct table_set *set, enum bobbin_source ret[TABLE_SOURCES])
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < set->count; i++) {
		const struct table_ops *ops = set->tables[i].ops;

		for (unsigned int k = 0; k < 2 && ops->functions && ops->sources[k]; k++)
			ret[count++] = ops->sources[k];
	}
	return count;
}

BOBBIN_API const char *bobbin_source_str(unsigned int source)
{
#define SOURCE_TEXT(name, text) text,
	static const char *const texts[] = {BOBBIN_SOURCES(SOURCE_TEXT)};
#undef SOURCE_TEXT

	if (source >= BOBBIN_SOURCE_COUNT)
		return "unknown";
	return texts[source];
}
