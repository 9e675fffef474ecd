/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symbol_offset.h - where a function is in its file, for probes.
 */
#ifndef BOBBIN_SYMBOL_SYMBOL_OFFSET_H
#define BOBBIN_SYMBOL_SYMBOL_OFFSET_H

#include <stdint.h>

/*
 * The offset in the file @path of the function's first byte.  @name is as symbol tables have it,
 * without a version; @debug_path: folders with debug files, whose symbols count, too.  0;
 * -ENOEXEC: it is no ELF file; -ENODATA: it has no such function; -ENOTSUP: it is an indirect one
 * (STT_GNU_IFUNC), whose address is that of code which chooses a function; or another errno.
 */
int symbol_offset_find(const char *path, const char *debug_path, const char *name, uint64_t *ret);

#endif
