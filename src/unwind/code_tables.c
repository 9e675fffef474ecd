/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/code_tables.h"

#include <errno.h>

#include "core/deps.h"
#include "core/refusal.h"
#include "unwind/loaded_object.h"

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
		table_set_add(&ret->set, TABLE_REGISTERED, code);
	if (code->kind != CODE_JIT)
		return;
	ret->jit.info = (struct code_jit_info){code->text_start, code->text_end, code->table};
	ret->jit.mem = by->mem;
	table_set_add(&ret->set, TABLE_JIT, &ret->jit);
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
