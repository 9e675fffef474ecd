/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * .eh_frame_hdr (LSB core 10.6.2): pairs of function start and FDE address,
 * sorted.  Every linker writes them as 32-bit distances from the header, the
 * one form that can be searched in place.
 */
#include <bobbin/cfi.h>

#include "cfi/cfi_header.h"
#include "cfi/dwarf.h"
#include "cfi/encoding.h"
#include "core/bisect.h"
#include "core/bytes.h"
#include "core/refusal.h"

#define TABLE_ENC (PE_DATAREL | PE_SDATA4)
#define PAIR_SIZE 8
/*
 * Pairs that are read on either side of a function.  Only empty and dead ones are skipped, and
 * linkers leave few of them in the table.
 */
#define MAX_DEAD 8

static int32_t table_word(const struct bobbin_cfi_view *view, uint32_t index, unsigned int which)
{
	const uint8_t *p = view->hdr + view->table + (uint64_t)index * PAIR_SIZE + 4 * which;

	return (int32_t)load_u32(p, view->arch->big_endian);
}

static uint64_t pair_start(const struct bobbin_cfi_view *view, uint32_t index)
{
	return view->hdr_addr + (uint64_t)(int64_t)table_word(view, index, 0);
}

/* Offset into the frame section.  It may wrap around, and is out of range then. */
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

/* What the header says of where the frames and the table are; the table's entries are not looked at. */
static int read_header(struct bobbin_cfi_view *view, struct bobbin_error *err, uint64_t *frame)
{
	struct bytes b = bytes_of(view->hdr, view->hdr ? view->hdr_size : 0,
				  view->arch->big_endian);
	uint8_t version, ptr_enc, count_enc, table_enc;
	uint64_t ptr = 0, count = 0;

	view->table = 0;
	view->table_count = 0;
	if (!view->hdr || !view->hdr_size)
		return refuse_as(-BOBBIN_ENODATA, err, 0, BOBBIN_REASON_CFI_HEADER);

	version = bytes_u8(&b);
	ptr_enc = bytes_u8(&b);
	count_enc = bytes_u8(&b);
	table_enc = bytes_u8(&b);
	if (b.bad || version != 1 || table_enc != TABLE_ENC || count_enc == PE_OMIT)
		return refuse(err, 0, BOBBIN_REASON_CFI_HEADER);
	if (!encoded_pointer(&b, ptr_enc, view->hdr_addr, view->hdr_addr, &ptr) ||
	    !encoded_value(&b, count_enc, &count) || b.bad)
		return refuse(err, 4, BOBBIN_REASON_CFI_HEADER);
	if (view->frame && ptr != view->frame_addr)
		return refuse(err, 4, BOBBIN_REASON_CFI_HEADER);
	if (!count || count > bytes_left(&b) / PAIR_SIZE || count > UINT32_MAX)
		return refuse(err, b.pos, BOBBIN_REASON_CFI_HEADER);
	view->table = b.pos;
	view->table_count = (uint32_t)count;
	*frame = ptr;
	return 0;
}

BOBBIN_API int bobbin_cfi_view_init(struct bobbin_cfi_view *view, struct bobbin_error *err)
{
	uint64_t frame, table;
	uint32_t bad;
	int r = read_header(view, err, &frame);

	if (r || table_is_sane(view, &bad))
		return r;
	table = view->table;
	view->table_count = 0;
	view->table = 0;
	return refuse(err, table + (uint64_t)bad * PAIR_SIZE, BOBBIN_REASON_CFI_HEADER);
}

int cfi_view_of_header(struct bobbin_cfi_view *view, const struct bobbin_range *segment)
{
	uint64_t frame;
	int r;

	view->frame = NULL;
	r = read_header(view, NULL, &frame);
	if (!r && (frame < segment->start || frame >= segment->end))
		r = -BOBBIN_EBADMSG;
	if (r)
		return r;
	view->frame = view->hdr + (int64_t)(frame - view->hdr_addr);
	view->frame_addr = frame;
	view->frame_size = segment->end - frame;
	return 0;
}

BOBBIN_API bool bobbin_cfi_has_code(const struct bobbin_cfi_view *view,
				    const struct bobbin_cfi_fde *fde)
{
	return fde->start < fde->end &&
	       (!view->code || bobbin_ranges_hold(view->code, view->code_count, fde->start,
						  fde->end - fde->start));
}

/* The best of several FDEs: its addresses, none if there is none, and its offset. */
struct best {
	uint64_t start, end, offset;
};

static bool covers(const struct best *best, uint64_t pc)
{
	return pc >= best->start && pc < best->end;
}

/* Of FDEs with the same start the longest applies, and of equal ones the last. */
static bool supersedes(const struct bobbin_cfi_fde *fde, const struct best *best)
{
	if (best->start == best->end || fde->end > best->end)
		return true;
	return fde->end == best->end && fde->offset > best->offset;
}

/*
 * Functions with an FDE of their own are not inlined below: kernels have small stacks.
 */

/* Where the last FDE starts that starts at or before the PC, and the next one. */
static __attribute__((__noinline__)) void scan_starts(const struct bobbin_cfi_view *view,
						      uint64_t pc, uint64_t *last, uint64_t *next)
{
	struct bobbin_cfi_fde fde = {0};
	uint64_t offset = 0;
	int r;

	*last = 0;
	*next = UINT64_MAX;
	/* a malformed entry must not hide the functions after it */
	while ((r = bobbin_cfi_next_like(view, &offset, &fde, NULL, &fde)) != 0) {
		if (r < 0 || !bobbin_cfi_has_code(view, &fde))
			continue;
		if (fde.start > pc && fde.start < *next)
			*next = fde.start;
		if (fde.start <= pc && fde.start > *last)
			*last = fde.start;
	}
}

static __attribute__((__noinline__)) int scan(const struct bobbin_cfi_view *view, uint64_t pc,
					      struct bobbin_error *err, struct bobbin_cfi_fde *ret)
{
	struct bobbin_cfi_fde fde = {0};
	struct best best = {0};
	uint64_t offset = 0, last, next;
	int r;

	scan_starts(view, pc, &last, &next);
	while ((r = bobbin_cfi_next_like(view, &offset, &fde, NULL, &fde)) != 0)
		if (r > 0 && fde.start == last && fde.end <= next &&
		    bobbin_cfi_has_code(view, &fde) && supersedes(&fde, &best))
			best = (struct best){fde.start, fde.end, fde.offset};
	if (!covers(&best, pc))
		return refuse_as(-BOBBIN_ENOENT, err, 0, BOBBIN_REASON_NO_FUNCTION);
	return bobbin_cfi_fde(view, best.offset, err, ret);
}

/* The last pair that starts at or before the PC. */
static bool search(const struct bobbin_cfi_view *view, uint64_t pc, uint32_t *ret)
{
	int64_t distance = (int64_t)(pc - view->hdr_addr);
	uint32_t after = bisect(i, 0, view->table_count, table_word(view, i, 0) > distance);

	if (!after)
		return false;
	*ret = after - 1;
	return true;
}

/*
 * Of two functions that start at the same address an optimizer of binaries keeps one in the
 * table, even the empty one; the FDE of the other follows its FDE.
 */
static __attribute__((__noinline__)) void step_over_empty(const struct bobbin_cfi_view *view,
							  struct bobbin_cfi_fde *fde)
{
	uint64_t offset = fde->next;
	struct bobbin_cfi_fde next;

	if (bobbin_cfi_next(view, &offset, NULL, &next) > 0 && next.start == fde->start)
		*fde = next;
}

/*
 * Whether a function starts inside another, by the pairs from @index on, which do not
 * start before it.
 */
static __attribute__((__noinline__)) bool is_overlapped(const struct bobbin_cfi_view *view,
							const struct bobbin_cfi_fde *fde,
							uint32_t index)
{
	struct bobbin_cfi_fde other;

	for (unsigned int i = 0; i < MAX_DEAD && index < view->table_count; i++, index++) {
		uint64_t distance = pair_start(view, index) - fde->start;

		if (distance >= fde->end - fde->start)
			return false;
		if (distance && !bobbin_cfi_fde(view, pair_fde(view, index), NULL, &other) &&
		    bobbin_cfi_has_code(view, &other))
			return true;
	}
	return index < view->table_count;
}

/* The function of a pair. */
static int read_pair(const struct bobbin_cfi_view *view, uint32_t index, struct bobbin_error *err,
		     struct bobbin_cfi_fde *ret)
{
	int r = bobbin_cfi_fde(view, pair_fde(view, index), err, ret);

	if (r == -BOBBIN_ENOENT)
		return refuse(err, pair_fde(view, index), BOBBIN_REASON_CFI_HEADER);
	if (!r && ret->start == ret->end)
		step_over_empty(view, ret);
	return r;
}

/* Of the pairs up to @index, the last one with code, or what is live instead of it. */
static int find_live(const struct bobbin_cfi_view *view, uint32_t index, uint64_t pc,
		     struct bobbin_error *err, struct bobbin_cfi_fde *ret)
{
	const uint32_t last = index;
	struct bobbin_cfi_fde fde;
	struct best live = {0};
	uint64_t start = 0;
	bool any = false;
	int r;

	for (unsigned int i = 0; i < MAX_DEAD; i++, index--) {
		r = read_pair(view, index, err, &fde);
		if (r)
			return r;
		if (any && fde.start != start)
			break;
		if (bobbin_cfi_has_code(view, &fde)) {
			any = true;
			start = fde.start;
			if (supersedes(&fde, &live) && !is_overlapped(view, &fde, index + 1))
				live = (struct best){fde.start, fde.end, fde.offset};
		}
		if (!index || (any && pair_start(view, index - 1) != start))
			break;
	}
	if (!covers(&live, pc))
		return refuse_as(-BOBBIN_ENOENT, err, pair_fde(view, last),
				 BOBBIN_REASON_NO_FUNCTION);
	if (fde.offset != live.offset)
		return bobbin_cfi_fde(view, live.offset, err, ret);
	*ret = fde;
	return 0;
}

BOBBIN_API int bobbin_cfi_find(const struct bobbin_cfi_view *view, uint64_t pc,
			       struct bobbin_error *err, struct bobbin_cfi_fde *ret)
{
	uint32_t index;

	if (!view->table_count)
		return scan(view, pc, err, ret);
	if (!search(view, pc, &index))
		return refuse_as(-BOBBIN_ENOENT, err, 0, BOBBIN_REASON_NO_FUNCTION);
	return find_live(view, index, pc, err, ret);
}
