/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "codemap/elf_request.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "base/file_range.h"
#include "codemap/code_checks.h"
#include "codemap/struct_copy.h"
#include "core/refusal.h"

/* What belongs together is there, or is not. */
static bool is_whole(const struct code_elf_info *i)
{
	return !i->elf_start == !i->elf_end && !i->sframe_start == !i->sframe_end &&
	       !i->build_id == !i->build_id_len && !i->text_ranges == !i->text_range_count &&
	       (i->debug_link_pathname || !i->debug_link_crc);
}

static int check_numbers(const struct code_elf_info *i)
{
	bool in_file = i->table_flags & CODE_TABLE_FILE;

	if (i->reserved || i->table_flags & ~(CODE_TABLE_FILE | CODE_TABLE_ZSTD) || !is_whole(i))
		return -EINVAL;
	if (!in_file &&
	    (i->table_flags || i->table_fd || i->table_offset || i->table_size || i->table_addr))
		return -EINVAL;
	if (in_file && i->sframe_start)
		return -EINVAL;
	if (i->elf_end && i->elf_start >= i->elf_end)
		return -EINVAL;
	if (i->build_id_len > ELF_REQUEST_MAX_BUILD_ID)
		return -EINVAL;
	return i->text_range_count > ELF_REQUEST_MAX_RANGES ? -E2BIG : 0;
}

static int copy_ranges(const struct code_elf_info *info, struct elf_request *e)
{
	size_t more = info->text_range_count;

	e->ranges = malloc((more + 1) * sizeof(*e->ranges));
	if (!e->ranges)
		return -ENOMEM;
	e->ranges[0] = (struct code_text_range){info->text_start, info->text_end};
	if (more && memory_copy(e->ranges + 1, info->text_ranges, more * sizeof(*e->ranges)))
		return -EFAULT;
	e->request.ranges = e->ranges;
	e->request.count = more + 1;
	return check_ranges(e->ranges, e->request.count);
}

static int copy_string(uint64_t addr, char **ret)
{
	char string[PATH_MAX];
	int r;

	if (!addr)
		return 0;
	r = string_copy(string, sizeof(string), addr);
	if (r)
		return r;
	*ret = strdup(string);
	return *ret ? 0 : -ENOMEM;
}

static int copy_identity(const struct code_elf_info *info, struct elf_request *e)
{
	int r = copy_string(info->pathname, &e->path);

	if (!r)
		r = copy_string(info->debug_link_pathname, &e->debug_link);
	if (!r)
		r = memory_copy(e->build_id, info->build_id, info->build_id_len);
	e->identity = (struct code_identity){.elf_start = info->elf_start,
					     .elf_end = info->elf_end,
					     .path = e->path,
					     .debug_link = e->debug_link,
					     .build_id = e->build_id,
					     .build_id_len = info->build_id_len,
					     .debug_link_crc = info->debug_link_crc};
	e->request.identity = &e->identity;
	return r;
}

/* An image is where it is said to be, and has the text. */
static int check_image(const struct code_elf_info *info, const struct elf_request *e)
{
	unsigned char magic[SELFMAG];

	if (!info->elf_end)
		return 0;
	for (size_t i = 0; i < e->request.count; i++)
		if (e->ranges[i].start < info->elf_start || e->ranges[i].end > info->elf_end)
			return -EINVAL;
	if (info->elf_end - info->elf_start < sizeof(Elf64_Ehdr))
		return -EINVAL;
	if (memory_copy(magic, info->elf_start, sizeof(magic)))
		return -EFAULT;
	return memcmp(magic, ELFMAG, SELFMAG) ? -EINVAL : 0;
}

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

static int read_bytes(const struct code_elf_info *info, struct table_bytes *ret)
{
	struct table_bytes file = {.size = info->table_size};
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
static int decompress(const struct table_bytes *frame, struct bobbin_error *err,
		      struct table_bytes *ret)
{
	unsigned long long size = ZSTD_getFrameContentSize(frame->data, frame->size);
	struct table_bytes file = {.size = size};
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

/*
 * Read what table_fd, table_offset, table_size and table_flags of @info say.
 * -EBADF: no descriptor for reading; -EINVAL: no regular file, or not in it; -EFBIG:
 * more than CHECK_MAX_TABLE, there or decompressed; -EBADMSG and @err: no zstd frame
 * that says its size; -EIO: reading failed, the file became shorter; -ENOMEM.
 */
static int read_file(const struct code_elf_info *info, struct bobbin_error *err,
		     struct table_bytes *ret)
{
	struct table_bytes bytes;
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

static int read_table(const struct code_elf_info *info, struct bobbin_error *err,
		      struct elf_request *e)
{
	int r = read_file(info, err, &e->table);

	if (r)
		return r;
	e->request.table = (uintptr_t)e->table.data;
	e->request.table_size = e->table.size;
	e->request.owned = e->table.data;
	e->request.free_owned = free;
	return check_section(e->table.data, e->table.size, info->table_addr, e->ranges,
			     e->request.count, err, &e->request.sframe);
}

uint64_t elf_request_key(const struct code_elf_info *info)
{
	return info->sframe_start ? info->sframe_start : info->text_start;
}

int elf_request_init(const struct code_elf_info *info, struct bobbin_error *err,
		     struct elf_request *e)
{
	int r = check_numbers(info);

	*e = (struct elf_request){.request.kind = CODE_NAMED};
	if (!r)
		r = copy_ranges(info, e);
	if (!r)
		r = copy_identity(info, e);
	if (!r)
		r = check_image(info, e);
	if (r)
		return r;
	e->request.key = elf_request_key(info);
	if (info->sframe_start || info->table_flags)
		e->request.kind = CODE_SECTION;
	e->request.table = info->sframe_start;
	e->request.table_size = info->sframe_end - info->sframe_start;
	return info->table_flags ? read_table(info, err, e) : 0;
}

void elf_request_registered(struct elf_request *e)
{
	e->table.data = NULL;
}

void elf_request_fini(struct elf_request *e)
{
	free(e->ranges);
	free(e->path);
	free(e->debug_link);
	free(e->table.data);
}
