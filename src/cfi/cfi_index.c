/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * .eh_frame_hdr (LSB core 10.6.2): pairs of function start and FDE address,
 * sorted.  Every linker writes them as 32-bit distances from the header, the
 * one form that can be searched in place.
 */
#include <bobbin/cfi.h>

#include "cfi/dwarf.h"
#include "cfi/encoding.h"
#include "core/bytes.h"
#include "core/refusal.h"

#define TABLE_ENC (PE_DATAREL | PE_SDATA4)
#define PAIR_SIZE 8

static int32_t table_word(const struct bobbin_cfi_view *view, uint32_t index, unsigned int which)
{
	const uint8_t *p = view->hdr + view->table + (uint64_t)index * PAIR_SIZE + 4 * which;
	uint32_t v;

	if (view->arch->big_endian)
		v = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	else
		v = (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
	return (int32_t)v;
}

static uint64_t pair_start(const struct bobbin_cfi_view *view, uint32_t index)
{
	return view->hdr_addr + (uint64_t)(int64_t)table_word(view, index, 0);
}

/* Offset into the frame section; wraps, and is then out of its range. */
static uint64_t pair_fde(const struct bobbin_cfi_view *view, uint32_t index)
{
	return view->hdr_addr + (uint64_t)(int64_t)table_word(view, index, 1) - view->frame_addr;
}

static bool table_is_sane(const struct bobbin_cfi_view *view, uint32_t *bad)
{
	for (uint32_t i = 0; i < view->table_count; i++) {
		*bad = i;
		if (pair_fde(view, i) >= view->frame_size)
			return false;
		/* distances are signed: compare them, addresses could wrap */
		if (i && table_word(view, i, 0) < table_word(view, i - 1, 0))
			return false;
	}
	return true;
}

BOBBIN_API int bobbin_cfi_view_init(struct bobbin_cfi_view *view, struct bobbin_error *err)
{
	struct bytes b = bytes_of(view->hdr, view->hdr ? view->hdr_size : 0,
				  view->arch->big_endian);
	uint8_t version, ptr_enc, count_enc, table_enc;
	uint64_t ptr = 0, count = 0;
	uint32_t bad;

	view->table = 0;
	view->table_count = 0;
	if (!view->hdr || !view->hdr_size)
		return refuse_as(-BOBBIN_ENODATA, err, 0, BOBBIN_CFI_HEADER);

	version = bytes_u8(&b);
	ptr_enc = bytes_u8(&b);
	count_enc = bytes_u8(&b);
	table_enc = bytes_u8(&b);
	if (b.bad || version != 1 || table_enc != TABLE_ENC || count_enc == PE_OMIT)
		return refuse(err, 0, BOBBIN_CFI_HEADER);
	if (!encoded_pointer(&b, ptr_enc, view->hdr_addr, view->hdr_addr, &ptr) ||
	    !encoded_value(&b, count_enc, &count) || b.bad || ptr != view->frame_addr)
		return refuse(err, 4, BOBBIN_CFI_HEADER);
	if (!count || count > bytes_left(&b) / PAIR_SIZE || count > UINT32_MAX)
		return refuse(err, b.pos, BOBBIN_CFI_HEADER);

	view->table = b.pos;
	view->table_count = (uint32_t)count;
	if (table_is_sane(view, &bad))
		return 0;
	view->table_count = 0;
	view->table = 0;
	return refuse(err, b.pos + (uint64_t)bad * PAIR_SIZE, BOBBIN_CFI_HEADER);
}

static bool covers(const struct bobbin_cfi_fde *fde, uint64_t pc)
{
	return pc >= fde->start && pc < fde->end;
}

static int scan(const struct bobbin_cfi_view *view, uint64_t pc, struct bobbin_error *err,
		struct bobbin_cfi_fde *ret)
{
	struct bobbin_cfi_fde fde;
	uint64_t offset = 0;
	int r;

	/* a malformed entry must not hide the functions behind it */
	while ((r = bobbin_cfi_next(view, &offset, NULL, &fde)) != 0) {
		if (r > 0 && covers(&fde, pc)) {
			*ret = fde;
			return 0;
		}
	}
	return refuse_as(-BOBBIN_ENOENT, err, 0, BOBBIN_NO_FUNCTION);
}

/* The last pair that starts at or before the PC. */
static bool search(const struct bobbin_cfi_view *view, uint64_t pc, uint32_t *ret)
{
	uint32_t lo = 0, hi = view->table_count;
	int64_t distance = (int64_t)(pc - view->hdr_addr);

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (table_word(view, mid, 0) <= distance)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return false;
	*ret = lo - 1;
	return true;
}

/*
 * Of two functions that start at one address, an optimizer of binaries keeps
 * one in the table, be it the empty one; the other then follows it.
 */
static bool step_over_empty(const struct bobbin_cfi_view *view, struct bobbin_cfi_fde *fde)
{
	uint64_t offset = fde->next;

	return fde->start == fde->end && bobbin_cfi_next(view, &offset, NULL, fde) > 0;
}

BOBBIN_API int bobbin_cfi_find(const struct bobbin_cfi_view *view, uint64_t pc,
			       struct bobbin_error *err, struct bobbin_cfi_fde *ret)
{
	struct bobbin_cfi_fde fde;
	uint32_t index;
	int r;

	if (!view->table_count)
		return scan(view, pc, err, ret);
	if (!search(view, pc, &index))
		return refuse_as(-BOBBIN_ENOENT, err, 0, BOBBIN_NO_FUNCTION);

	/* functions of size zero may share their start with a real one */
	for (unsigned int back = 0; back < 8; back++) {
		r = bobbin_cfi_fde(view, pair_fde(view, index), err, &fde);
		if (r == -BOBBIN_ENOENT)
			return refuse(err, pair_fde(view, index), BOBBIN_CFI_HEADER);
		if (r)
			return r;
		if (covers(&fde, pc) || (step_over_empty(view, &fde) && covers(&fde, pc))) {
			*ret = fde;
			return 0;
		}
		if (!index || pair_start(view, index - 1) != pair_start(view, index))
			break;
		index--;
	}
	return refuse_as(-BOBBIN_ENOENT, err, pair_fde(view, index), BOBBIN_NO_FUNCTION);
}
