/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/code_tables.h"

#include <errno.h>

#include "core/deps.h"
#include "core/refusal.h"
#include "unwind/jit_source.h"
#include "unwind/loaded_object.h"

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

static int section_lookup(void *table, const struct bobbin_arch *arch, uint64_t pc,
			  struct bobbin_error *err, struct table_answer *ret)
{
	const struct code *code = table;
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
	return bobbin_sframe_lookup(view, pc, err, &ret->row);
}

/* Of a struct code. */
static const struct table_ops section_ops = {
	.kind = TABLE_REGISTERED,
	.sources = {BOBBIN_SOURCE_SFRAME},
	.drops = true,
	.lookup = section_lookup,
};

/* The set of registered code, as long as a lookup takes. */
struct registered_set {
	struct table_set set;
	struct jit_source jit;
};

static void open_registered(const struct code_asker *by, struct code *code,
			    struct registered_set *ret)
{
	table_set_init(by->arch, &ret->set);
	if (!code || atomic_load_explicit(&code->dropped, memory_order_relaxed))
		return;
	if (code->kind == CODE_SECTION)
		table_set_add(&ret->set, &section_ops, code);
	if (code->kind != CODE_JIT)
		return;
	ret->jit.info = (struct code_jit_info){code->text_start, code->text_end, code->table};
	ret->jit.mem = by->mem;
	table_set_add(&ret->set, &jit_table_ops, &ret->jit);
}

void code_tables_rule(const struct code_asker *by, struct code *code, uint64_t pc,
		      struct table_answer *ret)
{
	const struct loaded_object *object = code ? loaded_object_of(code) : NULL;
	struct registered_set registered;

	if (object && object->module) {
		table_set_rule(&object->module->tables, pc - object->image.bias, &by->code, pc,
			       ret);
	} else {
		open_registered(by, code, &registered);
		table_set_rule(&registered.set, pc, &by->code, pc, ret);
	}
	if (ret->dropped.reason)
		registry_drop(by->registry, code, &ret->dropped);
}
