/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_request.h - what a call asks to register.
 */
#ifndef BOBBIN_CODEMAP_CODE_REQUEST_H
#define BOBBIN_CODEMAP_CODE_REQUEST_H

#include <bobbin/codectl.h>

#include "codemap/code.h"

/* Identity of registered code, copied; zero: unknown. */
struct code_identity {
	uint64_t elf_start, elf_end;
	const char *path, *debug_link;
	const uint8_t *build_id;
	uint32_t build_id_len, debug_link_crc;
};

/**
 * struct code_request - what is to be registered, checked
 * @kind: not CODE_OBJECT
 * @key: by which it is unregistered: address of the table, or of the text where the
 *	table is not the caller's memory.  In use only once
 * @ranges, @count: text, ascending and not overlapping
 * @table, @table_size: in memory
 * @sframe: of the table; @addr is right even if @data is NULL
 * @identity: or NULL; copied
 * @owned, @free_owned: the table's memory, if it becomes the registration's
 * @added: by registry_add_section()
 */
struct code_request {
	enum code_kind kind;
	uint64_t key;
	const struct code_text_range *ranges;
	size_t count;
	uint64_t table, table_size;
	struct bobbin_sframe_view sframe;
	const struct code_identity *identity;
	void *owned;
	void (*free_owned)(void *);
	bool added;
};

#endif
