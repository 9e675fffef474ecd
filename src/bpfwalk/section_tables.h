/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * section_tables.h - compiled tables: of the sections of a file, in the order in which walks ask
 * them, of a registered section, and of what a JIT table of another process has now.
 */
#ifndef BOBBIN_BPFWALK_SECTION_TABLES_H
#define BOBBIN_BPFWALK_SECTION_TABLES_H

#include "base/content_digest.h"
#include "bpfwalk/bpf_abi.h"
#include "unwind/jit_source.h"
#include "unwind/module.h"

struct section_table {
	enum bobbin_source source;
	const uint8_t *data;
	uint64_t size;
	uint8_t *own; /* to be freed */
	uint8_t digest[CONTENT_DIGEST_SIZE];
};

/**
 * struct section_tables - those of a file
 * @list, @count: where one says nothing, the next one does
 * @whole: walks ask no other sections
 */
struct section_tables {
	struct section_table list[KERNEL_SECTIONS];
	unsigned int count;
	bool whole;
};

/* Whether a table can be built of the section that walks ask first. */
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

/*
 * The table of rules that were inferred from a file's code, as one that all others of the file come
 * before; it is valid as long as @inferred.
 */
void section_tables_of_code(const struct kept_table *inferred, struct section_tables *ret);

/* Whether the file has no sections that walks ask. */
bool section_tables_none(const struct module *module);

/*
 * What the kernel is to know of a file's table beside its bytes; @ret->next is the caller's, and the
 * rest of it zero.
 */
void section_tables_describe(const struct section_tables *tables, unsigned int at,
			     struct module *module, struct kernel_file *ret);

/*
 * Where a chain of JIT tables ends now: the last table, and the bytes of it that are in use.
 * 0; -EFAULT; -EBADMSG: it has too many tables.
 */
int section_tables_jit_end(const struct jit_source *jit, uint64_t *tail, uint64_t *used);

/*
 * Compile the entries of the chain as if the text were at SECTION_TABLE_ADDR; @file gets the end,
 * as it was before.  @ret->own is to be freed; size 0: there are no entries.  0; -EBADMSG: it is
 * malformed; -EFAULT; -ENOMEM; -E2BIG.
 */
int section_tables_of_jit(const struct jit_source *jit, const struct bobbin_arch *arch,
			  struct section_table *ret, struct kernel_file *file);

void section_tables_fini(struct section_tables *tables);

#endif
