// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/landing_pads.h"

#include "cfi/dwarf.h"
#include "cfi/encoding.h"

/* Entries of one table. */
#define MOST_SITES 65536

/* A cursor at the augmentation string of a CIE; false: it has none. */
static bool open_cie(const struct bobbin_cfi_view *view, const struct bobbin_cfi_fde *fde,
		     struct bytes *ret)
{
	*ret = bytes_of(view->frame, view->frame_size, view->arch->big_endian);
	bytes_seek(ret, fde->cie);
	if (bytes_u32(ret) == UINT32_MAX)
		bytes_skip(ret, 8);
	bytes_skip(ret, 4 + 1);
	return !ret->bad && bytes_left(ret) && ret->data[ret->pos] == 'z';
}

/* The encoding of pointers to language-specific data; PE_OMIT: there are none. */
static uint8_t lsda_encoding(const struct bobbin_cfi_view *view, const struct bobbin_cfi_fde *fde)
{
	struct bytes b, letters;
	uint64_t personality;

	if (view->debug_frame || !open_cie(view, fde, &b))
		return PE_OMIT;
	letters = b;
	while (bytes_u8(&b))
		;
	bytes_uleb(&b);
	bytes_sleb(&b);
	bytes_uleb(&b);
	bytes_uleb(&b);
	bytes_skip(&letters, 1);
	for (uint8_t letter = bytes_u8(&letters); letter && !b.bad; letter = bytes_u8(&letters))
		switch (letter) {
		case 'L':
			return bytes_u8(&b);
		case 'R':
			bytes_u8(&b);
			break;
		case 'P':
			encoded_value(&b, bytes_u8(&b) & PE_FORMAT, &personality);
			break;
		case 'S':
		case 'B':
			break;
		default:
			return PE_OMIT;
		}
	return PE_OMIT;
}

/* The address of a function's language-specific data; false: it has none. */
static bool lsda_of(const struct bobbin_cfi_view *view, const struct bobbin_cfi_fde *fde,
		    uint8_t encoding, uint64_t *ret)
{
	struct bytes b = bytes_of(view->frame, fde->insn, view->arch->big_endian), probe;
	uint64_t skipped;

	bytes_seek(&b, fde->offset);
	if (bytes_u32(&b) == UINT32_MAX)
		bytes_skip(&b, 8);
	bytes_skip(&b, 4);
	encoded_value(&b, fde->fde_enc & PE_FORMAT, &skipped);
	encoded_value(&b, fde->fde_enc & PE_FORMAT, &skipped);
	if (!bytes_uleb(&b))
		return false;
	/* a pointer that is 0 leads nowhere, whatever it is relative to */
	probe = b;
	if (!encoded_value(&probe, encoding & PE_FORMAT, &skipped) || !skipped)
		return false;
	return encoded_pointer(&b, encoding, view->frame_addr, 0, ret) && !b.bad;
}

static int add_sites(struct program *program, struct bytes *b, uint8_t encoding, uint64_t function,
		     uint64_t pads)
{
	const uint64_t size = bytes_uleb(b), end = b->pos + size;
	int r = 0;

	for (unsigned int i = 0; i < MOST_SITES && !b->bad && b->pos < end && !r; i++) {
		uint64_t start, length, pad;

		if (!encoded_value(b, encoding, &start) || !encoded_value(b, encoding, &length) ||
		    !encoded_value(b, encoding, &pad))
			return 0;
		bytes_uleb(b);
		if (!b->bad && pad && program_code(program, pads + pad))
			r = program_add_pad(program, function + start, function + start + length,
					    pads + pad);
	}
	return r;
}

static int add_table(struct program *program, uint64_t lsda, uint64_t function)
{
	uint64_t size, pads = function;
	const uint8_t *data = program_bytes(program, lsda, &size);
	struct bytes b;
	uint8_t encoding;

	if (!data)
		return 0;
	b = bytes_of(data, size, false);
	encoding = bytes_u8(&b);
	if (encoding != PE_OMIT && !encoded_pointer(&b, encoding, lsda, 0, &pads))
		return 0;
	if (bytes_u8(&b) != PE_OMIT)
		bytes_uleb(&b);
	encoding = bytes_u8(&b);
	return b.bad ? 0 : add_sites(program, &b, encoding, function, pads);
}

int landing_pads_add(struct program *program, const struct bobbin_cfi_view *view)
{
	struct bobbin_cfi_fde fde = {0};
	uint64_t offset = 0, cie = UINT64_MAX, lsda;
	uint8_t encoding = PE_OMIT;
	int r = 0, more;

	while (!r && (more = bobbin_cfi_next_like(view, &offset, &fde, NULL, &fde)) != 0) {
		if (more < 0)
			continue;
		if (fde.cie != cie)
			encoding = lsda_encoding(view, &fde);
		cie = fde.cie;
		if (encoding != PE_OMIT && lsda_of(view, &fde, encoding, &lsda))
			r = add_table(program, lsda, fde.start);
	}
	return r;
}
