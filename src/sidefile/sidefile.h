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

/**
 * sidefile_make() - make a side-file in memory
 * @builder: the rows of a file, with its build ID if it has one
 * @data: the side-file, which becomes the caller's
 * @size: its bytes
 *
 * Equal rows give equal bytes, with one version of zstd.
 *
 * Return: 0; -ERANGE: too many different rules; -ENOMEM.
 */
int sidefile_make(const struct table_builder *builder, uint8_t **data, uint64_t *size);

/* Decoded blocks that are kept. */
#define SIDEFILE_CACHED 8

struct sidefile;

/**
 * sidefile_open() - read a side-file's head
 * @fd: the file; becomes the side-file's if it is opened
 * @err: where and why on failure, or NULL
 * @ret: the side-file; untouched on failure
 *
 * Return: 0; -EBADMSG with a reason; -ENOMEM; the errno of reading.
 */
int sidefile_open(int fd, struct bobbin_error *err, struct sidefile **ret);

/**
 * sidefile_close() - give everything back
 * @sidefile: NULL is fine
 */
void sidefile_close(struct sidefile *sidefile);

/**
 * sidefile_head() - whose it is, and how many blocks it has
 * @sidefile: an open side-file
 *
 * Return: the head, as long as @sidefile is open.
 */
const struct sidefile_head *sidefile_head(const struct sidefile *sidefile);

/**
 * sidefile_block() - the rows of a block
 * @sidefile: an open side-file
 * @index: < sidefile_head()->block_count
 * @err: where and why on failure, or NULL
 * @ret: the rows; valid until the next call with @sidefile
 *
 * Return: 0; -EBADMSG with a reason; -ENOMEM; the errno of reading.
 */
int sidefile_block(struct sidefile *sidefile, uint32_t index, struct bobbin_error *err,
		   const struct block_rows **ret);

/**
 * sidefile_rule() - the rule of a row
 * @sidefile: an open side-file
 * @number: of the rule
 * @ret: the rule
 *
 * Return: 0; -ENOENT: nothing is known where such rows hold; -EBADMSG: the rule is malformed.
 */
int sidefile_rule(const struct sidefile *sidefile, uint32_t number, struct bobbin_rule *ret);

/**
 * sidefile_lookup() - the row for an address of the file's own space
 * @sidefile: an open side-file
 * @vaddr: the address
 * @err: where and why on failure, or NULL
 * @ret: the row; untouched on failure
 *
 * Return: 0; -ENOENT: it says nothing about @vaddr; otherwise as
 * sidefile_block().
 */
int sidefile_lookup(struct sidefile *sidefile, uint64_t vaddr, struct bobbin_error *err,
		    struct bobbin_row *ret);

/**
 * sidefile_lookup_row() - the same without a search for the row's function
 * @sidefile: an open side-file
 * @vaddr: the address
 * @ret: the row, but for its function; untouched on failure
 * @begins: whether a function begins with the row
 *
 * A function may have as many rows as a block, and each of them would be looked at.
 *
 * Return: as sidefile_lookup().
 */
int sidefile_lookup_row(struct sidefile *sidefile, uint64_t vaddr, struct bobbin_row *ret,
			bool *begins);

#endif
