/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_validate.h - everything that is wrong with an SFrame section.
 *
 *	static void print(void *ctx, const struct bobbin_sframe_defect *defect)
 *	{
 *		printf("0x%" PRIx64 ": %s\n", defect->offset,
 *		       bobbin_reason_str(defect->reason));
 *	}
 *
 *	bobbin_sframe_validate(&view, NULL, print, NULL);
 *
 * Readers trust what they look at and nothing else, so that a section with a
 * damaged corner still serves.  This looks at every byte instead: at fields that
 * no reader needs, at what entries say of each other, and at rules that can be
 * read but cannot be true.  A section that validates without an error never
 * gives -EBADMSG to a call of <bobbin/sframe.h>.
 */
#ifndef BOBBIN_SFRAME_VALIDATE_H
#define BOBBIN_SFRAME_VALIDATE_H

#include <bobbin/range.h>
#include <bobbin/sframe.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum bobbin_sframe_severity - how bad a defect is
 * @BOBBIN_SFRAME_CLEAN: there is none
 * @BOBBIN_SFRAME_NOTE: unusual, but allowed and understood by all readers
 * @BOBBIN_SFRAME_WARNING: some readers stumble, or it is meant otherwise
 * @BOBBIN_SFRAME_ERROR: a rule cannot be read, or may be wrong
 */
enum bobbin_sframe_severity {
	BOBBIN_SFRAME_CLEAN,
	BOBBIN_SFRAME_NOTE,
	BOBBIN_SFRAME_WARNING,
	BOBBIN_SFRAME_ERROR,
};

/* The defect is not one of a function, or not one of a row. */
#define BOBBIN_SFRAME_NOWHERE UINT32_MAX

/**
 * struct bobbin_sframe_defect - one thing that is wrong
 * @offset: of the field or, for what a row as a whole says, of the row; from
 *	the section's first byte
 * @reason: what is wrong, one of SFRAME_…
 * @severity: always the same for a reason
 * @fde: index of the function, or BOBBIN_SFRAME_NOWHERE
 * @fre: number of the row in the function, or BOBBIN_SFRAME_NOWHERE
 */
struct bobbin_sframe_defect {
	uint64_t offset;
	enum bobbin_reason reason;
	enum bobbin_sframe_severity severity;
	uint32_t fde, fre;
};

/* Memory to sort one function in; private. */
struct bobbin_sframe_order {
	uint64_t key;
	uint32_t fde;
};

/**
 * struct bobbin_sframe_bounds - what the section itself does not tell
 * @available: bytes at the section's start, at least its own size; those after
 *	it should be zero.  0: only the section itself is there
 * @arch: that the section must be for; NULL: any
 * @text: executable ranges, ascending and not touching each other; each
 *	function must lie in one
 * @text_count: their number.  0: unknown
 * @order: memory of the caller, for one entry a function.  NULL: functions of
 *	unsorted sections are not checked for overlaps, and rows not for gaps,
 *	overlaps and sharing
 * @order_max: entries at @order; fewer than functions are as good as none
 */
struct bobbin_sframe_bounds {
	uint64_t available;
	const struct bobbin_arch *arch;
	const struct bobbin_range *text;
	uint32_t text_count;
	struct bobbin_sframe_order *order;
	uint32_t order_max;
};

/**
 * bobbin_sframe_severity() - how bad a reason is
 * @reason: SFRAME_…
 *
 * Return: NOTE, WARNING, or ERROR for all other values.  Safe in every context.
 */
enum bobbin_sframe_severity bobbin_sframe_severity(enum bobbin_reason reason);

/**
 * bobbin_sframe_validate() - find all defects
 * @view: a section with a sane header, from bobbin_sframe_view(); what that
 *	refuses is the only defect that can be told
 * @bounds: what is known besides, or NULL
 * @report: called for each defect, or NULL.  Those of the header come first, then
 *	those of functions, then those of rows in the order of their bytes
 * @ctx: for @report
 *
 * Rows that functions share are looked at once.  Takes time for n log n steps in
 * functions, and n in bytes of rows.  No allocation; safe in every context that
 * can wait for so long.
 *
 * Return: the gravest enum bobbin_sframe_severity that was found; -ENOBUFS:
 * functions share so many rows that not all of them can be looked at in
 * reasonable time without @bounds->order.
 */
int bobbin_sframe_validate(const struct bobbin_sframe_view *view,
			   const struct bobbin_sframe_bounds *bounds,
			   void (*report)(void *ctx, const struct bobbin_sframe_defect *defect),
			   void *ctx);

#ifdef __cplusplus
}
#endif

#endif
