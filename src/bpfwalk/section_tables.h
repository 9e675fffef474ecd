/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * section_tables.h - compiled tables of the sections of a file, in the order in which walks ask
 * them.
 */
#ifndef BOBBIN_BPFWALK_SECTION_TABLES_H
#define BOBBIN_BPFWALK_SECTION_TABLES_H

#include "bpfwalk/bpf_abi.h"
#include "unwind/module.h"

/* .sframe, .eh_frame, .debug_frame */
#define SECTION_TABLES KERNEL_SECTIONS

struct section_table {
	enum bobbin_source source;
	const uint8_t *data;
	uint64_t size;
	uint8_t *own; /* to be freed */
};

/**
 * struct section_tables - those of a file
 * @list, @count: where one says nothing, the next one does
 * @whole: there are no other sections that walks ask
 */
struct section_tables {
	struct section_table list[SECTION_TABLES];
	unsigned int count;
	bool whole;
};

/* Whether a file's first section is one of which a table can be made. */
bool section_tables_possible(const struct module *module);

/*
 * Make tables of at most @limit bytes together; those after one that cannot be made are left
 * out.  They are valid as long as the module.  0; -ENODATA: there is nothing to be made a table
 * of; -E2BIG: the limit; the first section's error.
 */
int section_tables_init(struct module *module, uint64_t limit, struct section_tables *ret);

/*
 * Make the table of registered sections of SFrame, as if they were at SECTION_TABLE_ADDR; nobody
 * knows what else is asked.  0; -ENODATA; -E2BIG; -EBADMSG: it is malformed.
 */
#define SECTION_TABLE_ADDR (1ull << 47)
int section_tables_init_bare(const struct elf_bytes *section, uint64_t limit,
			     struct section_tables *ret);

void section_tables_fini(struct section_tables *tables);

#endif
