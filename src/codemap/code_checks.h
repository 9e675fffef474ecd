/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_checks.h - what must be true of text and tables before they are registered.
 */
#ifndef BOBBIN_CODEMAP_CODE_CHECKS_H
#define BOBBIN_CODEMAP_CODE_CHECKS_H

#include <bobbin/code_abi.h>
#include <bobbin/sframe.h>

#include "codemap/code.h"
#include "codemap/own_mappings.h"

/* Text of one range, which the code map and JIT tables must be able to tell apart. */
#define CHECK_MAX_TEXT ((uint64_t)1 << 40)
/* Bytes of a table, from memory or from a file. */
#define CHECK_MAX_TABLE ((uint64_t)256 << 20)

/* Ranges of an ELF file beside the first one: struct code_elf_info.text_ranges. */
#define CHECK_MAX_RANGES 1024

/* Sort ranges.  -EINVAL: there are none, or one is empty, wraps or overlaps another. */
int check_ranges(struct code_text_range *ranges, size_t count);

/* -EINVAL: not all of it can be executed; or errors of own_mappings_executable(). */
int check_text(struct own_mappings *mappings, const struct code_text_range *ranges, size_t count);

/*
 * A table's range.  -EINVAL: it is empty or wraps; -EFBIG: more than
 * CHECK_MAX_TABLE; -EFAULT: not all of it can be read.
 */
int check_readable(uint64_t start, uint64_t end);

/*
 * Open a section of this machine, all of whose functions lie in the text; one of
 * zeros covers nothing yet and gets a view without @data.  -EBADMSG and @err.
 */
int check_section(const void *bytes, uint64_t size, uint64_t addr,
		  const struct code_text_range *text, size_t count, struct bobbin_error *err,
		  struct bobbin_sframe_view *ret);

/*
 * Open a compiled table of this machine, of which the head is looked at, as lookups trust nothing
 * else.  @bias is added to its addresses.  @build_id: of the image, @length bytes, 0: it is not known.
 * -EBADMSG and @err: it is malformed, of another file, or says nothing of the text.
 */
int check_compiled(const void *bytes, uint64_t size, uint64_t bias, const uint8_t *build_id,
		   uint32_t length, const struct code_text_range *text, size_t count,
		   struct bobbin_error *err, struct compiled_code *ret);

/*
 * The first JIT table, of which only the head is looked at: the rest changes.
 * -EINVAL: the text is larger than tables can tell, or the head is not aligned;
 * -EFAULT: it cannot be read; -EBADMSG and @err.
 */
int check_jit_head(const struct code_jit_info *info, struct bobbin_error *err);

#endif
