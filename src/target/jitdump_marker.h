/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jitdump_marker.h - the mapping by which a process tells where its jitdump file is.
 */
#ifndef BOBBIN_TARGET_JITDUMP_MARKER_H
#define BOBBIN_TARGET_JITDUMP_MARKER_H

#include <stdbool.h>

/* Whether a mapped file is called as jitdump files are: "…/jit-123.dump". */
bool jitdump_marker_is(const char *path);

#endif
