/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * function_pieces.h - parts of functions as functions of a new section.
 */
#ifndef BOBBIN_CONVERT_FUNCTION_PIECES_H
#define BOBBIN_CONVERT_FUNCTION_PIECES_H

#include <bobbin/sframe.h>

#include "convert/function_list.h"

/* The place of the row at the end of a function's last piece. */
struct piece_cursor {
	uint64_t offset;
	uint32_t left;
};

/**
 * struct piece_writer - a section in the making
 * @maker: the section
 * @list: the piece
 */
struct piece_writer {
	struct section_maker maker;
	struct function_list list;
};

/* As section_maker_init(). */
int piece_writer_init(const struct bobbin_arch *arch, uint64_t addr, unsigned int version,
		      bool share, uint32_t functions, struct piece_writer *ret);

/*
 * Add the part [@start, @end) of a function whose rows can be read.  Its parts
 * come in ascending order, with the same @cursor: at the first one, before the
 * first row.
 *
 * @kept grows by the bytes of code that the section covers now; if a part of them is missing,
 * @reason says why.  0; -ERANGE if the section would be too large; -ENOMEM.
 */
int piece_writer_add(struct piece_writer *writer, const struct bobbin_sframe_view *view,
		     const struct bobbin_sframe_fde *fde, uint64_t start, uint64_t end,
		     struct piece_cursor *cursor, uint32_t *kept, enum bobbin_reason *reason);

void piece_writer_fini(struct piece_writer *writer);

#endif
