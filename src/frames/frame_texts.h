/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame_texts.h - the code that some FDEs are for, as ranges.
 *
 *	FDEs	├───┤├────┤.├──┤        ├───┤     ├──┤
 *	ranges	├──────────────┤        ├───┤     (of a loaded file)
 *
 * Functions that touch, or have only the alignment of the next one between them,
 * make one range.  Whatever else lies between them belongs to somebody else.
 */
#ifndef BOBBIN_FRAMES_FRAME_TEXTS_H
#define BOBBIN_FRAMES_FRAME_TEXTS_H

#include <bobbin/code_abi.h>

#include "convert/fde_list.h"

/**
 * struct frame_texts - ranges
 * @ranges, @count: ascending
 * @functions: in them
 */
struct frame_texts {
	struct code_text_range *ranges;
	size_t count, functions;
};

/*
 * What of @list is not code of loaded files, and can be code at all; the rest is
 * empty in @list afterwards.  0; -ENODATA: no code is left; -ENOMEM.
 */
int frame_texts_init(struct fde_list *list, struct frame_texts *ret);
void frame_texts_fini(struct frame_texts *texts);

#endif
