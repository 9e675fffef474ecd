/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * elf_request.h - struct code_elf_info, with what it points to, as a request.
 */
#ifndef BOBBIN_CODEMAP_ELF_REQUEST_H
#define BOBBIN_CODEMAP_ELF_REQUEST_H

#include "codemap/registry.h"

/* Of struct code_elf_info.text_ranges. */
#define ELF_REQUEST_MAX_RANGES 1024
#define ELF_REQUEST_MAX_BUILD_ID 20

/* The bytes of a table, in memory of their own: free(). */
struct table_bytes {
	void *data;
	size_t size;
};

/* The request points into the rest. */
struct elf_request {
	struct code_request request;
	struct code_identity identity;
	struct code_text_range *ranges;
	char *path, *debug_link;
	uint8_t build_id[ELF_REQUEST_MAX_BUILD_ID];
	struct table_bytes table; /* if it is from a file */
};

/*
 * Copy and check all but what depends on mappings: text that can be executed, tables
 * in memory.  The errors are those of docs/registration.md.  elf_request_fini() also after
 * failure.
 */
int elf_request_init(const struct code_elf_info *info, struct bobbin_error *err,
		     struct elf_request *ret);
void elf_request_fini(struct elf_request *request);

/* The table is the registration's now. */
void elf_request_registered(struct elf_request *request);

/* What elf_request_init() gave it as key. */
uint64_t elf_request_key(const struct code_elf_info *info);

#endif
