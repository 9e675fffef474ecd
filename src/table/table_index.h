/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_index.h - which block has the rows of a cell of text.
 */
#ifndef BOBBIN_TABLE_TABLE_INDEX_H
#define BOBBIN_TABLE_TABLE_INDEX_H

#include "base/byte_buffer.h"

/*
 * The index of @cells cells.  @starts: those of @count blocks, from the table's start on, ascending
 * from 0.  0; -ENOMEM, and then @ret is to be given back, too.
 */
int table_index_make(const uint64_t *starts, size_t count, uint64_t cells, struct byte_buffer *ret);

#endif
