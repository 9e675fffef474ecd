/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sidefile.h - a compiled table in compressed blocks, opened to be asked.
 *
 * Opening reads the head, with the rules and the index.  A lookup reads and
 * decodes the one block that it needs, or finds it among the last few.  All reads
 * are pread(2): a file that shrinks or changes is noticed by its checksums.  Beside the head,
 * SIDEFILE_CACHED times 32 KiB are kept.
 *
 * One thread at a time.
 */
#ifndef BOBBIN_SIDEFILE_SIDEFILE_H
#define BOBBIN_SIDEFILE_SIDEFILE_H

#include <stddef.h>
#include <stdint.h>

#include "sidefile/block_codec.h"
#include "sidefile/sidefile_head.h"
#include "table/table_builder.h"

/*
 * The name of a file's side-file below the first @length characters of @folder:
 * the first byte of the build ID is the folder, the others are the file.  To be
 * free()d; NULL without memory or with a build ID of less than two bytes.
 */
char *sidefile_path(const char *folder, size_t length, const uint8_t *build_id, size_t id_length);

/*
 * Open the side-file of a build ID in the first folder of a colon-separated list
 * that has one.  A descriptor of a regular file, -ENOENT, -ENOMEM.
 */
int sidefile_find(const char *folders, const uint8_t *build_id, size_t id_length);

/*
 * Make the side-file of a file's rows, with its build ID if it has one.  @data becomes the
 * caller's. Equal rows give equal bytes, with one version of zstd.  0; -ERANGE: too many different
 * rules; -ENOMEM.
 */
int sidefile_make(const struct table_builder *builder, uint8_t **data, uint64_t *size);

/* Decoded blocks that are kept. */
#define SIDEFILE_CACHED 8

struct sidefile;

/*
 * Read the head of a side-file, whose @fd becomes the side-file's if it is opened.  0; -EBADMSG
 * with a reason in @err, or NULL; -ENOMEM; the errno of reading.
 */
int sidefile_open(int fd, struct bobbin_error *err, struct sidefile **ret);

/* NULL is fine. */
void sidefile_close(struct sidefile *sidefile);

/* Whose it is, and how many blocks it has; as long as it is open. */
const struct sidefile_head *sidefile_head(const struct sidefile *sidefile);

/* The rows of a block; valid until the next call.  Errors as sidefile_open(). */
int sidefile_block(struct sidefile *sidefile, uint32_t index, struct bobbin_error *err,
		   const struct block_rows **ret);

/* A rule by its number.  0; -ENOENT: nothing is known where it holds; -EBADMSG: it is malformed. */
int sidefile_rule(const struct sidefile *sidefile, uint32_t number, struct bobbin_rule *ret);

/*
 * The row for an address of the file's own space; @ret is untouched on failure.  0; -ENOENT: it
 * says nothing about @vaddr; otherwise as sidefile_block().
 */
int sidefile_lookup(struct sidefile *sidefile, uint64_t vaddr, struct bobbin_error *err,
		    struct bobbin_row *ret);

/*
 * The same without the row's function, which may have as many rows as a block, each of which would
 * be looked at.  @begins: whether a function begins with the row.
 */
int sidefile_lookup_row(struct sidefile *sidefile, uint64_t vaddr, struct bobbin_row *ret,
			bool *begins);

#endif
