/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/sframe_reader.h"

#include <errno.h>
#include <stdlib.h>

#include "base/file_range.h"
#include "core/refusal.h"

int sframe_reader_spend(struct sframe_reader *reader, uint64_t offset, uint64_t size)
{
	if (size > reader->budget)
		return refuse(reader->err, offset, BOBBIN_REASON_ELF_BROKEN);
	reader->budget -= size;
	return 0;
}

int sframe_reader_bytes(struct sframe_reader *reader, uint64_t offset, uint64_t size, uint8_t **ret)
{
	int r = sframe_reader_spend(reader, offset, size);
	uint8_t *data;
	ssize_t n;

	if (r)
		return r;
	if (size > SFRAME_FILE_MAX_RAW)
		return -EFBIG;
	if (offset > INT64_MAX - SFRAME_FILE_MAX_RAW)
		return refuse(reader->err, offset, BOBBIN_REASON_TRUNCATED);
	data = malloc(size ? size : 1);
	if (!data)
		return -ENOMEM;
	n = file_range_start(reader->fd, offset, data, size);
	if (n < 0 || (uint64_t)n < size) {
		free(data);
		return n < 0 ? (int)n : refuse(reader->err, offset, BOBBIN_REASON_TRUNCATED);
	}
	*ret = data;
	return 0;
}
