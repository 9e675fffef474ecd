/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* lookup.c - the rule for a PC: that of the row which row_search.h finds. */
#include "sframe/row_search.h"

static BOBBIN_NEVER_INLINE int read_any_rule(const struct bobbin_sframe_view *view,
					     const struct bobbin_sframe_fde *fde, uint64_t row,
					     struct bobbin_error *err, struct bobbin_rule *ret)
{
	struct bobbin_sframe_fre fre;
	int status = bobbin_sframe_fre(view, fde, row, err, &fre);

	return status ? status : bobbin_sframe_rule(view, fde, &fre, err, ret);
}

/*
 * A function without rows has no caller (V3, "SFrame FDE"); before V3 that means
 * nothing.  A signal trampoline without rows does have a caller, which the format
 * cannot express.
 */
static BOBBIN_NEVER_INLINE int row_of_empty(const struct bobbin_sframe_view *view,
					    const struct bobbin_sframe_fde *fde,
					    struct bobbin_error *err, struct bobbin_row *ret)
{
	struct bobbin_sframe_fre outermost = {.offset = fde->fre_off};

	if (fde->signal || view->version < 3)
		return not_found(false, err, fde->fre_off, BOBBIN_REASON_NO_ROW);
	ret->start = fde->start;
	ret->end = fde->start + fde->size;
	ret->function = fde->start;
	return bobbin_sframe_rule(view, fde, &outermost, err, &ret->rule);
}

/* The rule of the row that was found. */
static BOBBIN_ALWAYS_INLINE int read_rule(const struct bobbin_sframe_view *view,
					  const struct bobbin_sframe_fde *fde, const struct scan *s,
					  struct bobbin_error *err, struct bobbin_rule *ret)
{
	struct bobbin_sframe_fde copy;

	if (sframe_read_usual_rule(view, fde, s, ret))
		return 0;
	copy = *fde;
	return read_any_rule(view, &copy, (uint64_t)(s->row - view->data), err, ret);
}

static BOBBIN_ALWAYS_INLINE int lookup(const struct bobbin_sframe_view *view, uint64_t pc,
				       unsigned int form, struct bobbin_error *err,
				       struct bobbin_row *ret)
{
	struct scan s = {.big_endian = form & FORM_BIG_ENDIAN};
	struct bobbin_sframe_fde fde, copy;
	int status = sframe_find_fde(view, pc, form, err, &fde);

	if (status)
		return status;
	if (!fde.num_fres) {
		copy = fde;
		return row_of_empty(view, &copy, err, ret);
	}
	s.off = (uint32_t)(pc - fde.start);
	if (fde.pcmask)
		s.off %= fde.rep_size;
	status = sframe_find_row(view, &fde, err, &s);
	if (!status)
		status = read_rule(view, &fde, &s, err, &ret->rule);
	if (status)
		return status;
	ret->start = pc - s.off + s.start;
	ret->end = pc - s.off + s.end;
	if (fde.pcmask && ret->end > fde.start + fde.size)
		ret->end = fde.start + fde.size;
	ret->function = fde.start;
	return 0;
}

BOBBIN_API int bobbin_sframe_lookup(const struct bobbin_sframe_view *view, uint64_t pc,
				    struct bobbin_error *err, struct bobbin_row *ret)
{
	bool big_endian = sframe_big_endian(view);

	/* code and stack are scarce there, and memory is slower than a branch */
	if (BOBBIN_NATIVE_ONLY)
		return lookup(view, pc, view->version | (big_endian ? FORM_BIG_ENDIAN : 0), err,
			      ret);
	switch (view->version) {
	case 1:
		return big_endian ? lookup(view, pc, 1 | FORM_BIG_ENDIAN, err, ret)
				  : lookup(view, pc, 1, err, ret);
	case 2:
		return big_endian ? lookup(view, pc, 2 | FORM_BIG_ENDIAN, err, ret)
				  : lookup(view, pc, 2, err, ret);
	default:
		return big_endian ? lookup(view, pc, 3 | FORM_BIG_ENDIAN, err, ret)
				  : lookup(view, pc, 3, err, ret);
	}
}
