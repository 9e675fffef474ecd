/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sidefile_format.h - the layout of a side-file: a compiled table in compressed blocks.
 *
 *	skippable zstd frame   what this is, and where the head ends
 *	zstd frame             the head: whose file, its rules, the index of blocks
 *	zstd frame             block 0: rows of ascending addresses
 *	zstd frame             block 1
 *	...
 *
 * So the file as a whole is a valid .zst file.  Each frame has zstd's checksum.  A block is
 * decoded alone.  See docs/sidefile.md; what stands in the frames is written and read by
 * sidefile_head.c and block_codec.c.
 */
#ifndef BOBBIN_SIDEFILE_SIDEFILE_FORMAT_H
#define BOBBIN_SIDEFILE_SIDEFILE_FORMAT_H

/*
 * The skippable frame, little-endian: u32 zstd's magic, u32 bytes that follow,
 * magic, u32 version, u32 bytes of the head's frame.
 */
#define SIDEFILE_SKIPPABLE_MAGIC 0x184d2a5bu
#define SIDEFILE_MAGIC "bobbinSF"
#define SIDEFILE_MAGIC_SIZE 8
#define SIDEFILE_VERSION 2
#define SIDEFILE_PREAMBLE_SIZE 24

/* Rows of a block. */
#define SIDEFILE_BLOCK_ROWS 2048

/* Bytes of a frame without content: a smaller one with a checksum cannot be. */
#define SIDEFILE_LEAST_FRAME 13

/* What a reader refuses to decode: no writer's head or block is larger. */
#define SIDEFILE_MAX_HEAD (16u << 20)
#define SIDEFILE_MAX_BLOCK (64u << 10)

/* Functions mostly start at the next multiple of this. */
#define SIDEFILE_CODE_ALIGN 16

#endif
