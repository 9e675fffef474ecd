/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "codemap/table_file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <zstd.h>

#include "base/file_range.h"
#include "codemap/code_checks.h"
#include "core/refusal.h"

static int check_place(const struct code_elf_info *info)
{
	struct stat st;
	uint64_t end;

	if (!info->table_size)
		return -EINVAL;
	if (fstat(info->table_fd, &st))
		return -EBADF;
	if (!S_ISREG(st.st_mode) ||
	    __builtin_add_overflow(info->table_offset, info->table_size, &end) ||
	    end > (uint64_t)st.st_size)
		return -EINVAL;
	return info->table_size > CHECK_MAX_TABLE ? -EFBIG : 0;
}

static int read_bytes(const struct code_elf_info *info, struct table_file *ret)
{
	struct table_file file = {.size = info->table_size};
	int r;

	file.data = malloc(file.size);
	if (!file.data)
		return -ENOMEM;
	r = file_range_read(info->table_fd, info->table_offset, file.data, file.size);
	if (r) {
		free(file.data);
		return r == -EBADF ? r : -EIO;
	}
	*ret = file;
	return 0;
}

/* Memory is taken for what the frame says, which then must be so. */
static int decompress(const struct table_file *frame, struct bobbin_error *err,
		      struct table_file *ret)
{
	unsigned long long size = ZSTD_getFrameContentSize(frame->data, frame->size);
	struct table_file file = {.size = size};
	size_t got;

	if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN ||
	    ZSTD_findFrameCompressedSize(frame->data, frame->size) != frame->size)
		return refuse(err, 0, BOBBIN_REASON_SIDEFILE_FRAME);
	if (size > CHECK_MAX_TABLE)
		return -EFBIG;
	file.data = malloc(file.size ? file.size : 1);
	if (!file.data)
		return -ENOMEM;
	got = ZSTD_decompress(file.data, file.size, frame->data, frame->size);
	if (ZSTD_isError(got) || got != file.size) {
		free(file.data);
		return refuse(err, 0, BOBBIN_REASON_SIDEFILE_FRAME);
	}
	*ret = file;
	return 0;
}

int table_file_read(const struct code_elf_info *info, struct bobbin_error *err,
		    struct table_file *ret)
{
	struct table_file bytes;
	int r = check_place(info);

	if (!r)
		r = read_bytes(info, &bytes);
	if (r)
		return r;
	if (info->table_flags & CODE_TABLE_ZSTD) {
		r = decompress(&bytes, err, ret);
		free(bytes.data);
		return r;
	}
	*ret = bytes;
	return 0;
}
