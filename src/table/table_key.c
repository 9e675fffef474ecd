/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table/table_key.h"

#include <bobbin/range.h>

#include "table/table_layout.h"

/* Of what makes tables: another number whenever equal sections give other rows. */
#define MAKER_VERSION 2

static void add_section(struct content_digest *d, const uint8_t *data, uint64_t size, uint64_t addr)
{
	content_digest_u64(d, addr);
	content_digest_u64(d, data ? size : 0);
	content_digest_add(d, data, data ? size : 0);
}

/* What is live depends on where code is. */
static void add_cfi(struct content_digest *d, const struct bobbin_cfi_view *view)
{
	content_digest_u64(d, view->debug_frame);
	add_section(d, view->frame, view->frame_size, view->frame_addr);
	add_section(d, view->hdr, view->hdr_size, view->hdr_addr);
	content_digest_u64(d, view->code ? view->code_count + 1 : 0);
	for (size_t i = 0; view->code && i < view->code_count; i++) {
		content_digest_u64(d, view->code[i].start);
		content_digest_u64(d, view->code[i].end);
	}
}

void table_key_of(const struct table_sources *sources, const uint8_t *build_id, uint8_t length,
		  struct table_key *ret)
{
	struct content_digest d;

	content_digest_init(&d);
	content_digest_u64(&d, TABLE_VERSION);
	content_digest_u64(&d, MAKER_VERSION);
	content_digest_u64(&d, sources->arch->elf_machine);
	content_digest_u64(&d, sources->arch->big_endian);
	content_digest_u64(&d, length);
	content_digest_add(&d, build_id, length);
	content_digest_u64(&d, sources->sframe_count);
	for (unsigned int i = 0; i < sources->sframe_count; i++)
		add_section(&d, sources->sframe[i].data, sources->sframe[i].size,
			    sources->sframe[i].addr);
	content_digest_u64(&d, sources->cfi_count);
	for (unsigned int i = 0; i < sources->cfi_count; i++)
		add_cfi(&d, &sources->cfi[i]);
	content_digest_get(&d, ret->digest);
}
