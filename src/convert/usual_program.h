/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * usual_program.h - the programs that compilers make most, straight to bytes.
 *
 * What bobbin_cfi_rows_next() and bobbin_sframe_builder_add() do together, for
 * programs all of whose rows and instructions are usual ones: no rule is put
 * together, and none is taken apart again.
 */
#ifndef BOBBIN_CONVERT_USUAL_PROGRAM_H
#define BOBBIN_CONVERT_USUAL_PROGRAM_H

#include <bobbin/cfi.h>

#include "sframe/usual_rows.h"

/* What holds before the first instruction of a started program.  false: it is not usual. */
bool usual_program_start(const struct bobbin_cfi_rows *rows, struct usual_rule *ret);

/**
 * usual_program_run() - add the rows of an FDE
 * @view: the section
 * @fde: the FDE
 * @initial: what its CIE says, by usual_program_start()
 * @size: bytes of code that are wanted, at most those of the FDE
 * @rows: started for this size, without any row
 * @count: rows of the program, with those that repeat the one before; untouched
 *	on failure
 *
 * Return: false if something is not usual, malformed or out of room; @rows is of no
 * use then.
 */
bool usual_program_run(const struct bobbin_cfi_view *view, const struct bobbin_cfi_fde *fde,
		       const struct usual_rule *initial, uint32_t size, struct usual_rows *rows,
		       uint32_t *count);

#endif
