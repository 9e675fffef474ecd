/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sidefile_format.h - the layout of a compressed side-file.
 *
 *	skippable zstd frame   what this is, and where the head ends
 *	zstd frame             the head: whose file, its rules, the index of blocks
 *	zstd frame             block 0: functions of ascending addresses
 *	zstd frame             block 1
 *	...
 *
 * So the file as a whole is a valid .zst file.  Each frame has zstd's checksum.
 * A block is decoded alone, into a small SFrame section.  See docs/sidefile.md;
 * what stands in the frames is written and read by sidefile_head.c and
 * block_codec.c.
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
#define SIDEFILE_VERSION 1
#define SIDEFILE_PREAMBLE_SIZE 24

/* Decoded bytes after which a block is closed. */
#define SIDEFILE_BLOCK_TARGET 8192
/* Bytes without a function, at most, in a block. */
#define SIDEFILE_MAX_GAP (1u << 30)

/* What a reader refuses to decode. */
#define SIDEFILE_MAX_HEAD (4u << 20)
#define SIDEFILE_MAX_BLOCK (1u << 20)
#define SIDEFILE_MAX_SECTION (4u << 20)

/* Functions mostly start at the next multiple of this. */
#define SIDEFILE_CODE_ALIGN 16

/* What is unusual about a function. */
#define SIDEFILE_REPEATS 0x01
#define SIDEFILE_SIGNAL 0x02
#define SIDEFILE_LATE 0x04 /* its first row starts after its first byte */
#define SIDEFILE_ALL_FLAGS 0x07

#endif
