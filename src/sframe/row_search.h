/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * row_search.h - from a PC to its row.
 *
 * This is the hot path of every walk that has no cache.  Functions are found
 * by a search without data-dependent branches that reads only the starts, of
 * all functions or of the few that an index leaves; rows by a scan that reads
 * only their starts and sizes.  The FDE table was checked as a whole by
 * bobbin_sframe_view(); rows are checked one by one before they are read.
 *
 * There is one copy for each byte order and version, in which both are
 * constants; in a kernel just one.  What hardly ever happens is kept out of line, so that the rest
 * fits into registers.
 */
#ifndef BOBBIN_SFRAME_ROW_SEARCH_H
#define BOBBIN_SFRAME_ROW_SEARCH_H

#include "sframe/default_rule.h"
#include "sframe/fde.h"
#include "sframe/words.h"

/* Empty and equal functions that may stand before the one that holds a PC. */
#define MAX_STEPS_BACK 64

/* What a copy of the lookup is made for. */
#define FORM_VERSION 3
#define FORM_BIG_ENDIAN 4

/* Without a branch: which one it is could not be predicted. */
static BOBBIN_ALWAYS_INLINE uint64_t choose(bool first, uint64_t a, uint64_t b)
{
	return __builtin_expect_with_probability(first, 1, 0.5) ? a : b;
}

/* A part of the FDE table: the offset of its first entry, and how many there are. */
struct stretch {
	uint64_t at;
	uint32_t count;
};

/* Where the function of a PC is if the section has it; at least one entry. */
static BOBBIN_ALWAYS_INLINE struct stretch candidates(const struct bobbin_sframe_view *view,
						      uint64_t pc, int version)
{
	const struct bobbin_sframe_index *index = &view->index;
	uint64_t piece;
	uint32_t first;

	/* an index is not in the memory that the section is in */
	if (!MEMORY_IS_OURS || !index->buckets)
		return (struct stretch){view->fde_off, view->num_fdes};
	/* also if the PC is before the first function */
	piece = (pc - index->first) >> index->shift;
	piece = piece < index->last ? piece : index->last;
	first = index->buckets[piece];
	return (struct stretch){
		.at = view->fde_off + first * (uint64_t)sframe_fde_size_of(version),
		.count = index->buckets[piece + 1] - first + 1,
	};
}

/*
 * The last function that starts at or before a PC, or the first candidate.  The
 * middles of both halves are fetched before it is known which one is next.
 */
static BOBBIN_ALWAYS_INLINE uint64_t search(const struct bobbin_sframe_view *view,
					    struct sframe_fdes *fdes, uint64_t pc)
{
	const uint64_t size = sframe_fde_size_of(fdes->version);
	struct stretch s = candidates(view, pc, fdes->version);
	uint64_t step = s.count / 2 * size;

	BOBBIN_WHILE(s.count > 1 && !fdes->fault, 32)
	{
		uint64_t middle = s.at + step;

		s.count -= s.count / 2;
		step = s.count / 2 * size;
		__builtin_prefetch(fdes->data + s.at + step);
		__builtin_prefetch(fdes->data + middle + step);
		s.at = choose(sframe_fde_starts_by(fdes, middle, pc), middle, s.at);
	}
	return s.at;
}

static int not_found(bool fault, struct bobbin_error *err, uint64_t offset,
		     enum bobbin_reason reason)
{
	return fault ? refuse_read(true, err, offset, reason)
		     : refuse_as(-BOBBIN_ENOENT, err, offset, reason);
}

/* Back over functions that are empty, or shorter than one of the same start. */
static BOBBIN_NEVER_INLINE int step_back(const struct bobbin_sframe_view *view, uint64_t pc,
					 uint64_t fde, struct bobbin_error *err, uint64_t *ret)
{
	struct sframe_fdes fdes = sframe_fdes_of(view);
	uint64_t start = sframe_fde_start(&fdes, fde);
	unsigned int steps = 0;

	BOBBIN_WHILE(start <= pc && steps <= MAX_STEPS_BACK && !fdes.fault, MAX_STEPS_BACK + 1)
	{
		uint32_t size = sframe_fde_size(&fdes, fde);
		uint64_t before;

		if (pc - start < size && !fdes.fault) {
			*ret = fde;
			return 0;
		}
		if (fde == view->fde_off)
			break;
		fde -= view->fde_size;
		before = sframe_fde_start(&fdes, fde);
		if (size && before != start)
			break;
		start = before;
		steps++;
	}
	return not_found(fdes.fault, err, view->fde_off, BOBBIN_REASON_NO_FUNCTION);
}

/* Of the functions that hold a PC the one that starts last. */
static BOBBIN_NEVER_INLINE int find_unsorted(const struct bobbin_sframe_view *view, uint64_t pc,
					     struct bobbin_error *err, uint64_t *ret)
{
	struct sframe_fdes fdes = sframe_fdes_of(view);
	uint64_t best = 0, fde = view->fde_off, found = 0;
	uint32_t left = view->num_fdes;

	BOBBIN_WHILE(left && !fdes.fault, left)
	{
		uint64_t start = sframe_fde_start(&fdes, fde);

		if (start <= pc && start >= best && pc - start < sframe_fde_size(&fdes, fde)) {
			best = start;
			found = fde;
		}
		fde += view->fde_size;
		left--;
	}
	if (fdes.fault || !found)
		return not_found(fdes.fault, err, view->fde_off, BOBBIN_REASON_NO_FUNCTION);
	*ret = found;
	return 0;
}

/* The offset of the FDE of the function that holds a PC. */
static BOBBIN_ALWAYS_INLINE int find_function(const struct bobbin_sframe_view *view,
					      struct sframe_fdes *fdes, uint64_t pc,
					      struct bobbin_error *err, uint64_t *ret)
{
	uint64_t fde, start;

	if (!view->num_fdes)
		return not_found(false, err, view->fde_off, BOBBIN_REASON_NO_FUNCTION);
	if (!view->sorted)
		return find_unsorted(view, pc, err, ret);
	fde = search(view, fdes, pc);
	start = sframe_fde_start(fdes, fde);
	if (fdes->fault || start > pc || pc - start >= sframe_fde_size(fdes, fde))
		return step_back(view, pc, fde, err, ret);
	*ret = fde;
	return 0;
}

/**
 * struct scan - how far the search among a function's rows has come
 * @p: the next row
 * @row: the last one that starts at or before the PC, or NULL
 * @off: the PC, from the start of the function (or repeated block)
 * @left: rows from @p on
 * @start: of @row, likewise
 * @end: of @row, likewise
 * @big_endian: of the section, a constant
 */
struct scan {
	const uint8_t *p, *row;
	uint32_t off, left, start, end;
	bool big_endian;
};

/* Bytes of a row by its info byte, more than any section has if that is malformed. */
static BOBBIN_ALWAYS_INLINE uint64_t row_size(unsigned int width, uint8_t info)
{
	if (!sframe_fre_info_valid(info))
		return UINT64_MAX;
	return width + 1 + (SFRAME_FRE_NUM_WORDS(info) << SFRAME_FRE_WORD_SHIFT(info));
}

/* Why the next row is refused, near the section's end, where it may not be whole. */
static enum bobbin_reason scan_row(const struct bobbin_sframe_view *view, unsigned int width,
				   struct scan *s)
{
	uint64_t bytes = view->size - (uint64_t)(s->p - view->data), size;
	bool fault = false;
	uint32_t start;

	if (bytes <= width)
		return BOBBIN_REASON_SFRAME_FRE;
	start = sframe_read_last_start(s->p, width, sframe_big_endian(view), &fault);
	size = row_size(width, memory_u8(s->p + width, &fault));
	if (fault)
		return BOBBIN_REASON_NO_MEMORY;
	if (start > s->off) {
		s->end = start;
		s->left = 0;
		return BOBBIN_REASON_NONE;
	}
	if (start < s->start)
		return BOBBIN_REASON_SFRAME_ORDER;
	if (bytes < size)
		return BOBBIN_REASON_SFRAME_FRE;
	s->row = s->p;
	s->start = start;
	s->p += size;
	s->left--;
	return BOBBIN_REASON_NONE;
}

static BOBBIN_NEVER_INLINE enum bobbin_reason scan_last(const struct bobbin_sframe_view *view,
							unsigned int width, struct scan *s)
{
	enum bobbin_reason reason = BOBBIN_REASON_NONE;

	BOBBIN_WHILE(s->left && !reason, s->left)
	reason = scan_row(view, width, s);
	return reason;
}

/*
 * The last row that starts at or before an offset into the function.  A row's
 * place depends on the size of the row before; but mostly that is like its
 * predecessor, so that the processor can guess and run ahead.  The first row is
 * expected to be like that of most functions, one word of one byte.
 *
 * A section with a function has a header and an FDE: more bytes than any row.
 */
static BOBBIN_ALWAYS_INLINE enum bobbin_reason scan(const struct bobbin_sframe_view *view,
						    unsigned int width, struct scan *s)
{
	const uint8_t *last = view->data + (view->size - SFRAME_FRE_MAX_SIZE);
	const struct sframe_start_format format = sframe_start_format_of(width);
	unsigned int shape = 1 << 1;
	uint64_t size = width + 1 + 1;
	bool fault = false;

	BOBBIN_WHILE(s->left, s->left)
	{
		uint32_t start;
		uint8_t info;

		if (s->p > last) {
			struct scan rest = *s;
			enum bobbin_reason reason = scan_last(view, width, &rest);

			*s = rest;
			return reason;
		}
		start = sframe_read_start(s->p, format, s->big_endian, &fault);
		if (fault)
			return BOBBIN_REASON_NO_MEMORY;
		if (start > s->off) {
			s->end = start;
			break;
		}
		if (start < s->start)
			return BOBBIN_REASON_SFRAME_ORDER;
		info = memory_u8(s->p + width, &fault);
		if (fault)
			return BOBBIN_REASON_NO_MEMORY;
		if ((info & SFRAME_FRE_SIZE_BITS) != shape) {
			shape = info & SFRAME_FRE_SIZE_BITS;
			size = row_size(width, (uint8_t)shape);
			if (size > SFRAME_FRE_MAX_SIZE)
				return BOBBIN_REASON_SFRAME_FRE;
		}
		s->row = s->p;
		s->start = start;
		s->left--;
		s->p += size;
	}
	return BOBBIN_REASON_NONE;
}

/*
 * The rule of a row of an ordinary function that is not among the section's last.
 * The row was checked, but a section in memory may change meanwhile, so the info byte is
 * read once, and checked before the words' places are computed from it.
 */
BOBBIN_STAGE bool sframe_read_usual_rule(const struct bobbin_sframe_view *view BOBBIN_NONNULL,
					 const struct bobbin_sframe_fde *fde BOBBIN_NONNULL,
					 const struct scan *s BOBBIN_NONNULL,
					 struct bobbin_rule *ret BOBBIN_NONNULL)
{
	const uint8_t *last = view->data + (view->size - SFRAME_USUAL_WORDS_SIZE);
	const uint8_t *p = s->row + fde->fre_type + 1;
	bool fault = false;
	uint8_t info = memory_u8(p - 1, &fault);
	int32_t first, second, third;

	if (fde->flex || sframe_is_s390x(view) || p > last || !sframe_fre_info_valid(info))
		return false;
	if (!SFRAME_FRE_NUM_WORDS(info) || SFRAME_FRE_NUM_WORDS(info) > sframe_most_words(view))
		return false;
	first = sframe_read_word(p, info, 0, s->big_endian, &fault);
	second = sframe_read_word(p, info, 1, s->big_endian, &fault);
	third = sframe_read_word(p, info, 2, s->big_endian, &fault);
	if (!fault)
		sframe_default_rule(view, fde, info, first, second, third, ret);
	return !fault;
}

/* @s: in: with the offset and the byte order. */
BOBBIN_STAGE int sframe_find_row(const struct bobbin_sframe_view *view BOBBIN_NONNULL,
				 const struct bobbin_sframe_fde *fde BOBBIN_NONNULL,
				 struct bobbin_error *err, struct scan *s BOBBIN_NONNULL)
{
	enum bobbin_reason reason;

	s->p = view->data + fde->fre_off;
	s->left = fde->num_fres;
	s->end = sframe_fre_limit(fde);
	reason = scan(view, fde->fre_type, s);
	if (reason)
		return refuse_read(reason == BOBBIN_REASON_NO_MEMORY, err,
				   (uint64_t)(s->p - view->data), reason);
	if (s->end > sframe_fre_limit(fde))
		return refuse(err, (uint64_t)(s->p - view->data), BOBBIN_REASON_SFRAME_RANGE);
	if (!s->row)
		return not_found(false, err, fde->fre_off, BOBBIN_REASON_NO_ROW);
	return 0;
}

/* The function that holds a PC; @form: version and byte order, a constant. */
BOBBIN_STAGE int sframe_find_fde(const struct bobbin_sframe_view *view BOBBIN_NONNULL, uint64_t pc,
				 unsigned int form, struct bobbin_error *err,
				 struct bobbin_sframe_fde *ret BOBBIN_NONNULL)
{
	struct sframe_fdes fdes = sframe_fdes_of(view);
	uint64_t entry;
	int status;

	fdes.big_endian = form & FORM_BIG_ENDIAN;
	fdes.version = form & FORM_VERSION;
	status = find_function(view, &fdes, pc, err, &entry);
	if (status)
		return status;
	if (!sframe_read_fde(view, &fdes, entry, ret))
		return refuse_read(fdes.fault, err, entry, BOBBIN_REASON_SFRAME_FDE);
	return 0;
}

#endif
