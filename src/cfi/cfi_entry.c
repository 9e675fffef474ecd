/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CIEs and FDEs.  DWARF 5 section 6.4.1; LSB core 10.6 for .eh_frame, where
 * the id field is the distance back to the CIE and 0 marks a CIE.
 */
#include <bobbin/cfi.h>

#include "cfi/dwarf.h"
#include "cfi/encoding.h"
#include "core/bytes.h"
#include "core/refusal.h"

/*
 * Bytes of a CIE, at most.  Real ones have about thirty.  Each function runs its CIE's
 * instructions, so the time for a section is the product of the two.
 */
#define MAX_CIE_SIZE 4096
/* Letters, at most: each FDE reads them again.  Seven are defined. */
#define MAX_AUGMENTATION 16

/* The fields at the start of every entry. */
struct entry {
	uint64_t offset; /* of the entry */
	uint64_t body;   /* of the byte after the id */
	uint64_t next;
	uint64_t cie;
	bool is_cie, is_end;
};

static struct bytes section_of(const struct bobbin_cfi_view *view)
{
	return bytes_of(view->frame, view->frame_size, view->arch->big_endian);
}

/* On a bad length @ret->next is the section's end, else the next entry. */
static BOBBIN_ALWAYS_INLINE int read_entry(const struct bobbin_cfi_view *view, uint64_t offset,
					   struct bobbin_error *err, struct entry *ret)
{
	struct bytes b = section_of(view);
	uint64_t length, id, id_pos, id_size = 4;

	*ret = (struct entry){.offset = offset, .next = view->frame_size};
	bytes_seek(&b, offset);
	length = bytes_u32(&b);
	if (length == 0xffffffff) {
		length = bytes_u64(&b);
		/* in .eh_frame the id stays 4 bytes wide in practice: binutils, LSB */
		id_size = view->debug_frame ? 8 : 4;
	}
	if (!b.bad && !length && !view->debug_frame) {
		ret->is_end = true;
		return 0;
	}
	if (b.bad || length > bytes_left(&b) || length < id_size)
		return refuse(err, offset, BOBBIN_REASON_CFI_LENGTH);

	id_pos = b.pos;
	ret->next = b.pos + length;
	id = id_size == 8 ? bytes_u64(&b) : bytes_u32(&b);
	ret->body = b.pos;
	if (view->debug_frame) {
		ret->is_cie = id == (id_size == 8 ? UINT64_MAX : UINT32_MAX);
		ret->cie = id;
		return 0;
	}
	ret->is_cie = id == 0;
	if (id > id_pos)
		return refuse(err, offset, BOBBIN_REASON_CFI_CIE);
	ret->cie = id_pos - id;
	return 0;
}

/* The 'z' augmentation: a sized block, one datum for each letter. */
static int read_augmentation(struct bytes *b, uint64_t string, struct bobbin_error *err,
			     struct bobbin_cfi_fde *fde)
{
	struct bytes s = *b;
	uint64_t size = bytes_uleb(b);
	uint64_t end = b->pos + size, ignored;
	bool known = false, letters = true;

	if (size > bytes_left(b))
		return refuse(err, string, BOBBIN_REASON_CFI_LENGTH);
	bytes_seek(&s, string + 1);
	for (uint8_t c; letters && (c = bytes_u8(&s)) != 0 && !s.bad;) {
		uint8_t enc;

		switch (c) {
		case 'R':
			fde->fde_enc = bytes_u8(b);
			known = true;
			break;
		case 'L':
			bytes_u8(b);
			break;
		case 'P':
			enc = bytes_u8(b);
			/* the routine's address may be indirect: only its size matters */
			if (enc != PE_OMIT && !encoded_value(b, enc, &ignored))
				return refuse(err, string, BOBBIN_REASON_CFI_ENCODING);
			break;
		case 'S':
			fde->signal = true;
			break;
		case 'B':
			fde->key_b = true;
			break;
		case 'G': /* AArch64 memory tagging of the stack: no effect on rules */
			break;
		default:
			if (!known)
				return refuse(err, string, BOBBIN_REASON_CFI_AUGMENTATION);
			/* the block has a size: libgcc and readelf skip the rest, too */
			letters = false;
		}
	}
	if (b->bad || b->pos > end)
		return refuse(err, string, BOBBIN_REASON_CFI_LENGTH);
	/* only the process knows the base of such pointers */
	if ((fde->fde_enc & PE_APPLICATION) == PE_DATAREL)
		return refuse(err, string, BOBBIN_REASON_CFI_ENCODING);
	bytes_seek(b, end);
	return 0;
}

static int read_cie(const struct bobbin_cfi_view *view, uint64_t offset, struct bobbin_error *err,
		    struct bobbin_cfi_fde *fde)
{
	struct bytes b = section_of(view);
	struct entry cie;
	uint64_t string;
	uint8_t version, first;
	int r = read_entry(view, offset, err, &cie);

	if (r)
		return r;
	if (cie.is_end || !cie.is_cie)
		return refuse(err, offset, BOBBIN_REASON_CFI_CIE);
	if (cie.next - offset > MAX_CIE_SIZE)
		return refuse(err, offset, BOBBIN_REASON_CFI_LENGTH);

	b.size = cie.next;
	bytes_seek(&b, cie.body);
	version = bytes_u8(&b);
	if (version != 1 && version != 3 && version != 4)
		return refuse(err, offset, BOBBIN_REASON_CFI_VERSION);
	string = b.pos;
	first = bytes_u8(&b);
	for (uint8_t c = first; c && !b.bad;) {
		if (b.pos - string > MAX_AUGMENTATION)
			return refuse(err, string, BOBBIN_REASON_CFI_AUGMENTATION);
		c = bytes_u8(&b);
	}
	if (version == 4) {
		uint8_t address_size = bytes_u8(&b), segment_size = bytes_u8(&b);

		if (!b.bad && (address_size != 8 || segment_size))
			return refuse(err, offset, BOBBIN_REASON_CFI_VERSION);
	}
	fde->code_align = bytes_uleb(&b);
	fde->data_align = bytes_sleb(&b);
	fde->ra_column = version == 1 ? bytes_u8(&b) : bytes_uleb(&b);
	fde->fde_enc = PE_ABSPTR;
	fde->sized = first == 'z';
	if (first && !fde->sized)
		return refuse(err, string, BOBBIN_REASON_CFI_AUGMENTATION);
	if (fde->sized) {
		r = read_augmentation(&b, string, err, fde);
		if (r)
			return r;
	}
	if (b.bad)
		return refuse(err, offset, BOBBIN_REASON_CFI_LENGTH);
	fde->cie = offset;
	fde->init = b.pos;
	fde->init_end = cie.next;
	return 0;
}

static __attribute__((__noinline__)) bool read_any_range(struct bytes *b, uint8_t enc,
							 uint64_t section, uint64_t *start,
							 uint64_t *size)
{
	return encoded_pointer(b, enc, section, 0, start) &&
	       encoded_value(b, enc & PE_FORMAT, size);
}

/* A function's addresses, mostly in the encoding that compilers use. */
static BOBBIN_ALWAYS_INLINE bool read_range(struct bytes *b, uint8_t enc, uint64_t section,
					    uint64_t *start, uint64_t *size)
{
	struct bytes copy;
	uint64_t first, second;
	bool good;

	if (enc == (PE_PCREL | PE_SDATA4)) {
		*start = section + b->pos + (uint64_t)bytes_signed(b, 4);
		*size = (uint64_t)bytes_signed(b, 4);
		return true;
	}
	copy = *b;
	good = read_any_range(&copy, enc, section, &first, &second);
	*b = copy;
	if (!good)
		return false;
	*start = first;
	*size = second;
	return true;
}

/* An FDE of a known CIE, which may be @ret. */
static BOBBIN_ALWAYS_INLINE int read_fde_of(const struct bobbin_cfi_view *view,
					    const struct entry *entry,
					    const struct bobbin_cfi_fde *cie,
					    struct bobbin_error *err, struct bobbin_cfi_fde *ret)
{
	struct bytes b = section_of(view);
	uint64_t start, size, end;

	b.size = entry->next;
	bytes_seek(&b, entry->body);
	if (!read_range(&b, cie->fde_enc, view->frame_addr, &start, &size))
		return refuse(err, entry->offset, BOBBIN_REASON_CFI_ENCODING);
	if (cie->sized)
		bytes_skip(&b, bytes_uleb(&b));
	/* in a signed encoding a function could end before it starts */
	if (b.bad || size > INT64_MAX || __builtin_add_overflow(start, size, &end))
		return refuse(err, entry->offset, BOBBIN_REASON_CFI_LENGTH);
	if (ret != cie)
		*ret = *cie;
	ret->start = start;
	ret->end = end;
	ret->offset = entry->offset;
	ret->next = ret->insn_end = entry->next;
	ret->insn = b.pos;
	return 0;
}

/* An FDE with its CIE. */
static __attribute__((__noinline__)) int read_fde(const struct bobbin_cfi_view *view,
						  const struct entry *entry,
						  struct bobbin_error *err,
						  struct bobbin_cfi_fde *ret)
{
	struct bobbin_cfi_fde cie = {0};
	int r;

	if (entry->cie >= view->frame_size)
		return refuse(err, entry->offset, BOBBIN_REASON_CFI_CIE);
	r = read_cie(view, entry->cie, err, &cie);
	return r ? r : read_fde_of(view, entry, &cie, err, ret);
}

BOBBIN_API int bobbin_cfi_fde(const struct bobbin_cfi_view *view, uint64_t offset,
			      struct bobbin_error *err, struct bobbin_cfi_fde *ret)
{
	struct entry entry;
	int r = read_entry(view, offset, err, &entry);

	if (r)
		return r;
	if (entry.is_cie || entry.is_end)
		return refuse_as(-BOBBIN_ENOENT, err, offset, BOBBIN_REASON_NO_FUNCTION);
	return read_fde(view, &entry, err, ret);
}

BOBBIN_API int bobbin_cfi_next_like(const struct bobbin_cfi_view *view, uint64_t *offset,
				    const struct bobbin_cfi_fde *like, struct bobbin_error *err,
				    struct bobbin_cfi_fde *ret)
{
	struct entry entry, copy;
	int r;

	/* each turn consumes an entry of at least five bytes */
	while (*offset < view->frame_size) {
		r = read_entry(view, *offset, err, &entry);
		/* linkers that join sections keep their terminators */
		*offset = entry.is_end ? entry.offset + 4 : entry.next;
		if (r)
			return r;
		if (entry.is_cie || entry.is_end)
			continue;
		if (like && like->init_end && like->cie == entry.cie) {
			r = read_fde_of(view, &entry, like, err, ret);
		} else {
			copy = entry;
			r = read_fde(view, &copy, err, ret);
		}
		return r ? r : 1;
	}
	return 0;
}

BOBBIN_API int bobbin_cfi_next(const struct bobbin_cfi_view *view, uint64_t *offset,
			       struct bobbin_error *err, struct bobbin_cfi_fde *ret)
{
	return bobbin_cfi_next_like(view, offset, NULL, err, ret);
}
