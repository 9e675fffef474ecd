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
#include "sframe/default_rule.h"
#include "sframe/words.h"

/* Empty and equal functions that may stand before the one that holds a PC. */
#define MAX_STEPS_BACK 64

/*
 * The last function that starts at or before a PC, or the first function.  The
 * choice of a half is arithmetic: branches on it could not be predicted.
 */
static BOBBIN_ALWAYS_INLINE uint64_t search(const struct bobbin_sframe_view *view, uint64_t pc,
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
	return at;
}

static uint64_t search_sorted(const struct bobbin_sframe_view *view, uint64_t pc)
{
	bool big_endian = view->arch->big_endian;

	if (view->version == 1)
		return big_endian ? search(view, pc, true, 1) : search(view, pc, false, 1);
	if (view->version == 2)
		return big_endian ? search(view, pc, true, 2) : search(view, pc, false, 2);
	return big_endian ? search(view, pc, true, 3) : search(view, pc, false, 3);
}

static uint64_t start_of(const struct bobbin_sframe_view *view, uint64_t fde)
{
	const struct sframe_starts starts = sframe_starts_of(view, view->arch->big_endian,
							     view->version);

	return sframe_fde_start(&starts, fde);
}

static uint32_t size_of(const struct bobbin_sframe_view *view, uint64_t fde)
{
	return sframe_fde_size(view, fde, view->arch->big_endian, view->version);
}

static bool find_sorted(const struct bobbin_sframe_view *view, uint64_t pc, uint64_t *ret)
{
	uint64_t fde = search_sorted(view, pc), start = start_of(view, fde);

	for (unsigned int steps = 0; start <= pc && steps <= MAX_STEPS_BACK; steps++) {
		uint32_t size = size_of(view, fde);
		uint64_t before;

		if (pc - start < size) {
			*ret = fde;
			return true;
		}
		if (fde == view->fde_off)
			return false;
		fde -= view->fde_size;
		before = start_of(view, fde);
		if (size && before != start)
			return false;
		start = before;
	}
	return false;
}

/* Of the functions that hold a PC the one that starts last. */
static bool find_unsorted(const struct bobbin_sframe_view *view, uint64_t pc, uint64_t *ret)
{
	uint64_t best = 0, fde = view->fde_off;
	bool found = false;

	for (uint32_t i = 0; i < view->num_fdes; i++, fde += view->fde_size) {
		uint64_t start = start_of(view, fde);

		if (start > pc || start < best || pc - start >= size_of(view, fde))
			continue;
		best = start;
		*ret = fde;
		found = true;
	}
	return found;
}

/* The offset of the FDE of the function that holds a PC. */
static bool find_function(const struct bobbin_sframe_view *view, uint64_t pc, uint64_t *ret)
{
	if (!view->num_fdes)
		return false;
	return view->sorted ? find_sorted(view, pc, ret) : find_unsorted(view, pc, ret);
}

/**
 * struct hit - a row found by a scan
 * @row: its first byte
 * @start, @end: offsets from the function's (or repeated block's) start
 */
struct hit {
	const uint8_t *row;
	uint32_t start, end;
};

/* Bytes of a row by its info byte, 0 if that is malformed. */
static uint64_t row_size(unsigned int width, uint8_t info)
{
	if (!sframe_fre_info_valid(info))
		return 0;
	return width + 1 + (SFRAME_FRE_NUM_WORDS(info) << SFRAME_FRE_WORD_SHIFT(info));
}

/*
 * The last row that starts at or before an offset into the function.  A row's
 * place depends on the size of the row before; but mostly that has the same info
 * byte as its predecessor, so that the processor can guess and run ahead.
 */
static BOBBIN_ALWAYS_INLINE int scan(const struct bobbin_sframe_view *view,
				     const struct bobbin_sframe_fde *fde, uint32_t off,
				     bool big_endian, struct bobbin_error *err, struct hit *ret)
{
	const uint8_t *p = view->data + fde->fre_off, *end = view->data + view->size;
	uint32_t limit = sframe_fre_limit(fde);
	unsigned int width = fde->fre_type, last_info = UINT8_MAX + 1;
	struct hit hit = {.end = limit};
	uint64_t size = 0;

	for (uint32_t left = fde->num_fres; left; left--, p += size) {
		uint32_t start;

		if (end - p < (ptrdiff_t)width + 1)
			return refuse(err, (uint64_t)(p - view->data), BOBBIN_SFRAME_FRE);
		start = sframe_read_start(p, (uint64_t)(end - p), width, big_endian);
		if (start > off) {
			hit.end = start;
			break;
		}
		if (start < hit.start)
			return refuse(err, (uint64_t)(p - view->data), BOBBIN_SFRAME_ORDER);
		if (p[width] != last_info) {
			last_info = p[width];
			size = row_size(width, p[width]);
		}
		if (!size || (uint64_t)(end - p) < size)
			return refuse(err, (uint64_t)(p - view->data), BOBBIN_SFRAME_FRE);
		hit.row = p;
		hit.start = start;
	}
	if (hit.end > limit)
		return refuse(err, (uint64_t)(p - view->data), BOBBIN_SFRAME_RANGE);
	if (!hit.row)
		return refuse_as(-BOBBIN_ENOENT, err, fde->fre_off, BOBBIN_NO_ROW);
	*ret = hit;
	return 0;
}

static int scan_rows(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fde *fde,
		     uint32_t off, struct bobbin_error *err, struct hit *ret)
{
	if (view->arch->big_endian)
		return scan(view, fde, off, true, err, ret);
	return scan(view, fde, off, false, err, ret);
}

/* The rule of a row of an ordinary function that is not among the section's last. */
static BOBBIN_ALWAYS_INLINE bool read_usual_rule(const struct bobbin_sframe_view *view,
						 const struct bobbin_sframe_fde *fde, uint64_t row,
						 bool big_endian, struct bobbin_rule *ret)
{
	uint64_t words = row + fde->fre_type + 1;
	const uint8_t *p = view->data + words;
	uint8_t info = p[-1];

	if (fde->flex || sframe_is_s390x(view) || view->size - words < SFRAME_USUAL_WORDS_SIZE)
		return false;
	if (!SFRAME_FRE_NUM_WORDS(info) || SFRAME_FRE_NUM_WORDS(info) > sframe_most_words(view))
		return false;
	sframe_default_rule(view, fde, info, sframe_read_word(p, info, 0, big_endian),
			    sframe_read_word(p, info, 1, big_endian),
			    sframe_read_word(p, info, 2, big_endian), ret);
	return true;
}

static int read_any_rule(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fde *fde,
			 uint64_t row, struct bobbin_error *err, struct bobbin_rule *ret)
{
	struct bobbin_sframe_fre fre;
	int status = bobbin_sframe_fre(view, fde, row, err, &fre);

	return status ? status : bobbin_sframe_rule(view, fde, &fre, err, ret);
}

static int read_rule(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fde *fde,
		     uint64_t row, struct bobbin_error *err, struct bobbin_rule *ret)
{
	if (view->arch->big_endian ? read_usual_rule(view, fde, row, true, ret)
				   : read_usual_rule(view, fde, row, false, ret))
		return 0;
	return read_any_rule(view, fde, row, err, ret);
}

static int find_row(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fde *fde,
		    uint64_t pc, struct bobbin_error *err, struct bobbin_row *ret)
{
	uint32_t off = (uint32_t)(pc - fde->start);
	uint32_t in_block = fde->pcmask ? off % fde->rep_size : off;
	uint64_t block = pc - in_block, end = fde->start + fde->size;
	struct hit hit;
	int status;

	status = scan_rows(view, fde, in_block, err, &hit);
	if (!status)
		status = read_rule(view, fde, (uint64_t)(hit.row - view->data), err, &ret->rule);
	if (status)
		return status;
	ret->start = block + hit.start;
	ret->end = hit.end < end - block ? block + hit.end : end;
	ret->function = fde->start;
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
	uint64_t offset;
	int status;

	if (!find_function(view, pc, &offset))
		return refuse_as(-BOBBIN_ENOENT, err, view->fde_off, BOBBIN_NO_FUNCTION);
	status = bobbin_sframe_read_fde(view, offset, err, &fde);
	if (status)
		return status;
	if (!fde.num_fres)
		return row_of_empty(view, &fde, err, ret);
	return find_row(view, &fde, pc, err, ret);
}
