/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_file.h - a table that is given as a part of a file, compressed or not.
 */
#ifndef BOBBIN_CODEMAP_TABLE_FILE_H
#define BOBBIN_CODEMAP_TABLE_FILE_H

#include <bobbin/code_abi.h>
#include <bobbin/reason.h>

/* The bytes, in memory of their own: free(). */
struct table_file {
	void *data;
	size_t size;
};

/*
 * Read what table_fd, table_offset, table_size and table_flags of @info say.
 * -EBADF: no descriptor for reading; -EINVAL: no regular file, or not in it; -EFBIG:
 * more than CHECK_MAX_TABLE, there or decompressed; -EBADMSG and @err: no zstd frame
 * that says its size; -EIO: reading failed, the file became shorter; -ENOMEM.
 */
int table_file_read(const struct code_elf_info *info, struct bobbin_error *err,
		    struct table_file *ret);

#endif
