/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_paths.h - where most of the weight is, in a few lines.
 *
 *	   61.75%  cc1: main > toplev::main > ... 12 more ... > df_analyze > bitmap_ior
 *
 * A path goes from the outermost function inwards as far as it has a twentieth of all weight.
 */
#ifndef BOBBIN_EXPORT_REPORT_PATHS_H
#define BOBBIN_EXPORT_REPORT_PATHS_H

#include <stdio.h>

#include "export/call_tree.h"

/* The heaviest ones of report_tree(), a handful.  0 or -ENOMEM.  Write errors stay in @out. */
int report_paths_write(const struct call_tree *tree, FILE *out);

#endif
