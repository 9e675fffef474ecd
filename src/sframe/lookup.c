/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lookup.c - from a PC to its row.
 *
 * This is the hot path of every walk that has no cache.  Functions are found
 * by a binary search without data-dependent branches, in copies for each byte
 * order and version, that reads only the starts; rows by a scan that reads
 * only their starts and sizes.  The FDE table was checked as a whole by
 * bobbin_sframe_view(); rows are checked one by one before they are read.
 */
#include "sframe/layout.h"

/* Empty and equal functions that may stand before the one that holds a PC. */
#define MAX_STEPS_BACK 64

/*
 * The last function that starts at or before a PC, or the first function.  The
 * choice of a half is arithmetic: branches on it could not be predicted.
 */
static BOBBIN_ALWAYS_INLINE uint32_t search(const struct bobbin_sframe_view *view, uint64_t pc,
					    bool big_endian, int version)
{
	const struct sframe_starts starts = sframe_starts_of(view, big_endian, version);
	const uint64_t size = sframe_fde_size_of(version);
	uint64_t at = view->fde_off;

	for (uint32_t count = view->num_fdes, half; count > 1; count -= half) {
		uint64_t middle;

		half = count / 2;
		middle = at + half * size;
		at = sframe_fde_start(&starts, middle) <= pc ? middle : at;
	}
	return (uint32_t)((at - view->fde_off) / size);
}

static uint32_t search_sorted(const struct bobbin_sframe_view *view, uint64_t pc)
{
	bool big_endian = view->arch->big_endian;

	if (view->version == 1)
		return big_endian ? search(view, pc, true, 1) : search(view, pc, false, 1);
	if (view->version == 2)
		return big_endian ? search(view, pc, true, 2) : search(view, pc, false, 2);
	return big_endian ? search(view, pc, true, 3) : search(view, pc, false, 3);
}

static uint64_t start_of(const struct bobbin_sframe_view *view, uint32_t index)
{
	const struct sframe_starts starts = sframe_starts_of(view, view->arch->big_endian,
							     view->version);

	return sframe_fde_start(&starts, view->fde_off + (uint64_t)index * view->fde_size);
}

static uint32_t size_of(const struct bobbin_sframe_view *view, uint32_t index)
{
	return sframe_fde_size(view, view->fde_off + (uint64_t)index * view->fde_size,
			       view->arch->big_endian, view->version);
}

static bool find_sorted(const struct bobbin_sframe_view *view, uint64_t pc, uint32_t *ret)
{
	uint32_t index = search_sorted(view, pc);
	uint64_t start = start_of(view, index);

	for (unsigned int steps = 0; start <= pc && steps <= MAX_STEPS_BACK; steps++) {
		uint32_t size = size_of(view, index);
		uint64_t before;

		if (pc - start < size) {
			*ret = index;
			return true;
		}
		if (!index)
			return false;
		before = start_of(view, --index);
		if (size && before != start)
			return false;
		start = before;
	}
	return false;
}

/* Of the functions that hold a PC the one that starts last. */
static bool find_unsorted(const struct bobbin_sframe_view *view, uint64_t pc, uint32_t *ret)
{
	uint64_t best = 0;
	bool found = false;

	for (uint32_t i = 0; i < view->num_fdes; i++) {
		uint64_t start = start_of(view, i);

		if (start > pc || start < best || pc - start >= size_of(view, i))
			continue;
		best = start;
		*ret = i;
		found = true;
	}
	return found;
}

static bool find_function(const struct bobbin_sframe_view *view, uint64_t pc, uint32_t *ret)
{
	if (!view->num_fdes)
		return false;
	return view->sorted ? find_sorted(view, pc, ret) : find_unsorted(view, pc, ret);
}

/**
 * struct hit - a row found by a scan
 * @offset: of the row from the section's first byte
 * @start, @end: offsets from the function's (or repeated block's) start
 */
struct hit {
	uint64_t offset;
	uint32_t start, end;
};

static BOBBIN_ALWAYS_INLINE uint32_t load_start(const uint8_t *p, bool big_endian, int width)
{
	if (width == 1)
		return *p;
	return width == 2 ? load_u16(p, big_endian) : load_u32(p, big_endian);
}

/* Bytes of data words of a row; most rows have words of one byte. */
static BOBBIN_ALWAYS_INLINE uint64_t words_size(uint64_t info)
{
	if (__builtin_expect(info < 2 * (SFRAME_FRE_MAX_WORDS + 1), 1))
		return info >> 1;
	return SFRAME_FRE_NUM_WORDS(info) << SFRAME_FRE_WORD_SHIFT(info);
}

/* The last row that starts at or before an offset into the function. */
static BOBBIN_ALWAYS_INLINE int scan(const struct bobbin_sframe_view *view,
				     const struct bobbin_sframe_fde *fde, uint32_t off,
				     bool big_endian, int width, struct bobbin_error *err,
				     struct hit *ret)
{
	uint32_t limit = sframe_fre_limit(fde);
	struct hit hit = {.end = limit};
	uint64_t at = fde->fre_off, end = view->size;

	for (uint32_t left = fde->num_fres; left; left--) {
		const uint8_t *p = view->data + at;
		uint64_t size = (uint64_t)width + 1;
		uint32_t start;

		if (end - at < size)
			return refuse(err, at, BOBBIN_SFRAME_FRE);
		start = load_start(p, big_endian, width);
		if (start > off) {
			hit.end = start;
			break;
		}
		if (start < hit.start)
			return refuse(err, at, BOBBIN_SFRAME_ORDER);
		size += words_size(p[width]);
		if (!sframe_fre_info_valid(p[width]) || end - at < size)
			return refuse(err, at, BOBBIN_SFRAME_FRE);
		hit.offset = at;
		hit.start = start;
		at += size;
	}
	if (hit.end > limit)
		return refuse(err, at, BOBBIN_SFRAME_RANGE);
	if (!hit.offset)
		return refuse_as(-BOBBIN_ENOENT, err, at, BOBBIN_NO_ROW);
	*ret = hit;
	return 0;
}

static int scan_rows(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fde *fde,
		     uint32_t off, struct bobbin_error *err, struct hit *ret)
{
	bool big_endian = view->arch->big_endian;

	if (fde->fre_type == 1)
		return scan(view, fde, off, false, 1, err, ret);
	if (fde->fre_type == 2)
		return big_endian ? scan(view, fde, off, true, 2, err, ret)
				  : scan(view, fde, off, false, 2, err, ret);
	return big_endian ? scan(view, fde, off, true, 4, err, ret)
			  : scan(view, fde, off, false, 4, err, ret);
}

static int find_row(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fde *fde,
		    uint64_t pc, struct bobbin_error *err, struct bobbin_row *ret)
{
	uint32_t off = (uint32_t)(pc - fde->start);
	uint32_t in_block = fde->pcmask ? off % fde->rep_size : off;
	uint64_t block = pc - in_block, end = fde->start + fde->size;
	struct hit hit;
	struct bobbin_sframe_fre fre;
	struct bobbin_rule rule;
	int status;

	status = scan_rows(view, fde, in_block, err, &hit);
	if (status)
		return status;
	status = bobbin_sframe_fre(view, fde, hit.offset, err, &fre);
	if (!status)
		status = bobbin_sframe_rule(view, fde, &fre, err, &rule);
	if (status)
		return status;
	ret->start = block + hit.start;
	ret->end = hit.end < end - block ? block + hit.end : end;
	ret->function = fde->start;
	ret->rule = rule;
	return 0;
}

/*
 * A function without rows has no caller (V3, "SFrame FDE").  A signal
 * trampoline without rows does have one, which the format cannot express.
 */
static int row_of_empty(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fde *fde,
			struct bobbin_error *err, struct bobbin_row *ret)
{
	const struct bobbin_sframe_fre outermost = {.offset = fde->fre_off};

	if (fde->signal)
		return refuse_as(-BOBBIN_ENOENT, err, fde->fre_off, BOBBIN_NO_ROW);
	ret->start = fde->start;
	ret->end = fde->start + fde->size;
	ret->function = fde->start;
	return bobbin_sframe_rule(view, fde, &outermost, err, &ret->rule);
}

BOBBIN_API int bobbin_sframe_lookup(const struct bobbin_sframe_view *view, uint64_t pc,
				    struct bobbin_error *err, struct bobbin_row *ret)
{
	struct bobbin_sframe_fde fde;
	uint32_t index;
	int status;

	if (!find_function(view, pc, &index))
		return refuse_as(-BOBBIN_ENOENT, err, view->fde_off, BOBBIN_NO_FUNCTION);
	status = bobbin_sframe_fde(view, index, err, &fde);
	if (status)
		return status;
	if (!fde.num_fres)
		return row_of_empty(view, &fde, err, ret);
	return find_row(view, &fde, pc, err, ret);
}
