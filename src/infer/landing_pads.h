/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * landing_pads.h - where exceptions continue, by the language-specific data of .eh_frame.
 */
#ifndef BOBBIN_INFER_LANDING_PADS_H
#define BOBBIN_INFER_LANDING_PADS_H

#include <bobbin/cfi.h>

#include "infer/program_code.h"

/*
 * Add those of all functions.  What is malformed, and tables of other languages that do not look
 * like C++'s, are left out.  0, -ENOMEM.
 */
int landing_pads_add(struct program *program, const struct bobbin_cfi_view *view);

#endif
