/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plain_frame.h - the caller of a frame whose packed rule is at hand, and plain: a dozen
 * instructions.
 */
#ifndef BOBBIN_CORE_PLAIN_FRAME_H
#define BOBBIN_CORE_PLAIN_FRAME_H

#include "core/frame_walk.h"

/* The three registers that plain rules need, in a form that compilers keep in registers. */
struct plain_frame {
	uint64_t pc, sp, fp;
	int64_t fp_off; /* from the caller's SP to where its FP was saved; PLAIN_RA_OFF: it was not */
	uint8_t source;
	bool exact;
	bool inside; /* what tells of the caller lies between the two stack pointers */
};

/* To a caller, member by member: compilers copy the whole through memory. */
static BOBBIN_ALWAYS_INLINE void plain_frame_move(struct plain_frame *f, uint64_t pc, uint64_t sp,
						  uint64_t fp)
{
	f->pc = pc;
	f->sp = sp;
	f->fp = fp;
	f->exact = false;
}

enum frame_case {
	FRAME_GENERAL, /* nothing has changed */
	FRAME_CALLER,
	FRAME_OUTERMOST,
};

/* What a plain frame keeps below its CFA. */
struct frame_words {
	uint64_t ra, fp;
};

/*
 * Those of a frame that is not in near memory; @fp_off as in struct plain_frame.  false: there are
 * none.  Programs of BPF bring their own, which is proved by itself.
 */
static bool far_words(struct frame_walk *w, uint64_t cfa, int64_t fp_off, struct frame_words *ret);

/* The return address and FP of @f's caller below @cfa; false: there are none. */
static BOBBIN_ALWAYS_INLINE bool plain_words(struct frame_walk *w, struct plain_frame *f,
					     uint64_t cfa, uint64_t *ra, uint64_t *fp)
{
	const uint64_t at = cfa + world_shift(w), size = cfa - f->sp, room = cfa - w->near.start;
	const bool aligned = cfa % sizeof(*ra) == 0;

	f->inside = size >= (uint64_t)-f->fp_off;
	/* both stack pointers are in near memory, the CFA above the other */
	if (BOBBIN_LIKELY(room <= w->near.size) && BOBBIN_LIKELY(size <= room) &&
	    BOBBIN_LIKELY(f->inside) && BOBBIN_LIKELY(aligned)) {
		world_load(w, at + (uint64_t)PLAIN_RA_OFF, ra);
		if (f->fp_off != PLAIN_RA_OFF)
			world_load(w, at + (uint64_t)f->fp_off, fp);
	} else {
		struct frame_words words = {0, *fp};

		if (cfa <= f->sp || !aligned || !far_words(w, cfa, f->fp_off, &words))
			return false;
		*ra = words.ra;
		*fp = words.fp;
	}
	return true;
}

/*
 * The caller's registers to @caller, where that takes a plain rule which is at hand,
 * memory that is there, and nothing to be decided.
 */
static BOBBIN_ALWAYS_INLINE enum frame_case frame_plain(struct frame_walk *w, struct plain_frame *f,
							struct plain_frame *caller)
{
	uint64_t word = world_packed(w, f->pc - !f->exact, &f->source);
	uint64_t cfa, ra, fp = f->fp;

	if (!BOBBIN_LIKELY(word))
		return FRAME_GENERAL;
	/* the commonest word; the next address does not have to wait for it */
	if (word == w->forms.record) {
		cfa = f->fp + 16;
		f->fp_off = -16;
	} else if (!plain_cfa(&w->forms, word, f->sp, f->fp, &cfa) || !plain_fp(word, &f->fp_off)) {
		return plain_outermost(word) ? FRAME_OUTERMOST : FRAME_GENERAL;
	}
	if (!BOBBIN_LIKELY(plain_words(w, f, cfa, &ra, &fp)) || !BOBBIN_LIKELY(ra))
		return FRAME_GENERAL;
	plain_frame_move(caller, ra, cfa, fp);
	return FRAME_CALLER;
}

#endif
