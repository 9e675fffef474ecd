/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * encoding.h - encoded pointers of .eh_frame and .eh_frame_hdr.
 */
#ifndef BOBBIN_CFI_ENCODING_H
#define BOBBIN_CFI_ENCODING_H

#include "core/bytes.h"

/*
 * Read a pointer of encoding @enc at the cursor.  @section is the address of
 * the cursor's first byte (for pc-relative pointers), @data the base of
 * data-relative ones.  false: an encoding that call-frame information cannot
 * resolve without a process (indirect, text- or function-relative, aligned).
 * Running out of bytes sets @b->bad.
 */
bool encoded_pointer(struct bytes *b, uint8_t enc, uint64_t section, uint64_t data, uint64_t *ret);

/* The same without the base: lengths and counts. */
bool encoded_value(struct bytes *b, uint8_t enc, uint64_t *ret);

#endif
