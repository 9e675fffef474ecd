/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mapping_builder.h - the entries of a process's list: its mappings, overlaid by the code that it
 * has registered.
 */
#ifndef BOBBIN_BPFWALK_MAPPING_BUILDER_H
#define BOBBIN_BPFWALK_MAPPING_BUILDER_H

#include "bpfwalk/bpf_tables.h"
#include "unwind/space.h"

/**
 * struct mapping_builder - a list that is being made
 * @list, @count: the entries, ascending
 * @whole: all tables are there that are to be
 * @grows: some of the tables are JIT tables, which grow
 */
struct mapping_builder {
	struct bpf_tables *tables;
	struct kernel_mapping *list;
	size_t count, room;
	bool whole, grows;
};

/* Make all entries of a space.  0; -ENOMEM; -E2BIG: more than a list can have. */
int mapping_builder_make(struct mapping_builder *entries, const struct bobbin_space *space);
void mapping_builder_fini(struct mapping_builder *entries);

/*
 * What the entry of an address would say now, of registered code by what lists have found out;
 * false: there is none.
 */
bool mapping_builder_at(struct mapping_builder *entries, struct bobbin_space *space, uint64_t addr,
			struct kernel_mapping *ret);

#endif
