/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/row_chain.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "convert/piece_counts.h"
#include "sframe/layout.h"

static uint8_t info2_of(const struct bobbin_sframe_builder *b,
			const struct bobbin_sframe_built *fde)
{
	return b->version >= 3 ? b->fres[fde->fre_off + SFRAME_V3_ATTR_AT_INFO2] : 0;
}

static const uint8_t *rows_of(const struct bobbin_sframe_builder *b,
			      const struct bobbin_sframe_built *fde)
{
	return b->fres + fde->fre_off + (b->version >= 3 ? SFRAME_V3_ATTR_SIZE : 0);
}

static inline uint32_t load_start(const uint8_t *p, unsigned int width, bool big_endian)
{
	if (width == 1)
		return *p;
	return width == 2 ? load_u16(p, big_endian) : load_u32(p, big_endian);
}

static uint32_t first_start(const struct bobbin_sframe_builder *b,
			    const struct bobbin_sframe_built *fde)
{
	return load_start(rows_of(b, fde), 1u << (fde->info & SFRAME_FDE_FRE_TYPE),
			  b->arch->big_endian);
}

bool row_chain_can_start(const struct bobbin_sframe_builder *b, uint32_t index)
{
	const struct bobbin_sframe_built *fde = &b->fdes[index];

	return fde->num_fres && !(fde->info & SFRAME_FDE_PCMASK) && first_start(b, fde) < fde->size;
}

static bool continues(const struct bobbin_sframe_builder *b, uint32_t index)
{
	const struct bobbin_sframe_built *fde = &b->fdes[index], *before = fde - 1;

	return before->start + before->size == fde->start && fde->size && fde->num_fres &&
	       !((fde->info ^ before->info) & ~SFRAME_FDE_FRE_TYPE) &&
	       info2_of(b, fde) == info2_of(b, before) && !first_start(b, fde);
}

uint32_t row_chain_length(const struct bobbin_sframe_builder *b, uint32_t first)
{
	uint64_t size = b->fdes[first].size;
	uint32_t i = first + 1;

	for (; i < b->fde_count && continues(b, i); i++) {
		size += b->fdes[i].size;
		if (size > UINT32_MAX)
			break;
	}
	return i - first;
}

static bool same_body(const struct chain_row *a, const struct chain_row *b)
{
	/* mostly they differ in the first word */
	return a->body[0] == b->body[0] && (a->size < 2 || a->body[1] == b->body[1]) &&
	       !memcmp(a->body, b->body, a->size);
}

/* The rows of a function that begins @base bytes behind the chain's start. */
static void read_rows(struct row_chain *chain, const struct bobbin_sframe_builder *b,
		      const struct bobbin_sframe_built *fde, uint32_t base)
{
	unsigned int width = 1u << (fde->info & SFRAME_FDE_FRE_TYPE);
	const uint8_t *p = rows_of(b, fde);
	uint32_t function = (uint32_t)chain->count;
	struct chain_row *row = chain->rows + chain->count;

	for (uint32_t i = 0; i < fde->num_fres; i++, row++) {
		uint8_t info = p[width];

		row->start = base + load_start(p, width, b->arch->big_endian);
		row->function = function;
		row->body = p + width;
		row->size =
			(uint8_t)(1 + (SFRAME_FRE_NUM_WORDS(info) << SFRAME_FRE_WORD_SHIFT(info)));
		row->same = row != chain->rows && same_body(row - 1, row);
		p += width + row->size;
	}
	chain->count += fde->num_fres;
	if (width > chain->widest)
		chain->widest = (uint8_t)width;
}

int row_chain_read(struct row_chain *chain, const struct bobbin_sframe_builder *b, uint32_t first,
		   uint32_t length)
{
	const struct bobbin_sframe_built *fde = &b->fdes[first], *end = fde + length;
	size_t count = 0;

	for (uint32_t i = 0; i < length; i++)
		count += fde[i].num_fres;
	if (vector_reserve(&chain->rows, &chain->capacity, count, sizeof(*chain->rows)))
		return -ENOMEM;
	chain->start = fde->start;
	chain->info = fde->info & (uint8_t)~SFRAME_FDE_FRE_TYPE;
	chain->info2 = info2_of(b, fde);
	chain->widest = 1;
	chain->count = 0;
	for (; fde < end; fde++)
		read_rows(chain, b, fde, (uint32_t)(fde->start - chain->start));
	chain->size = (uint32_t)(end[-1].start + end[-1].size - chain->start);
	return 0;
}

void row_chain_hash(struct row_chain *chain)
{
	for (size_t i = 0; i < chain->count; i++)
		chain->rows[i].hash = piece_hash(chain->rows[i].body, chain->rows[i].size);
}

void row_chain_fini(struct row_chain *chain)
{
	free(chain->rows);
	*chain = (struct row_chain){0};
}
