/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mapping_builder.h - the code of a process as the kernel is told of it: its mappings, and over
 * them what it has registered.
 */
#ifndef BOBBIN_BPFWALK_MAPPING_BUILDER_H
#define BOBBIN_BPFWALK_MAPPING_BUILDER_H

#include "bpfwalk/bpf_tables.h"
#include "unwind/space.h"

/**
 * struct list_entries - of a list that is being made
 * @tables, @code: of files and of registered code
 * @list, @count: the entries, ascending
 * @whole: no table is to come
 * @grows: there are JIT tables among them
 */
struct list_entries {
	struct kernel_tables *tables;
	struct kernel_code *code;
	struct kernel_mapping *list;
	size_t count, room;
	bool whole, grows;
};

/* All entries of a space.  0; -ENOMEM; -E2BIG: a list has no room for them. */
int list_entries_make(struct list_entries *entries, const struct bobbin_space *space);
void list_entries_fini(struct list_entries *entries);

/*
 * What the entry of an address would say now, of registered code by what lists have found out;
 * false: there is none.
 */
bool list_entries_at(struct list_entries *entries, struct bobbin_space *space, uint64_t addr,
		     struct kernel_mapping *ret);

#endif
