/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sframe_section.h - a section of one function, and the calls that register it. */
#ifndef SELFTEST_SFRAME_SECTION_H
#define SELFTEST_SFRAME_SECTION_H

#include <asm/unistd.h>
#include <linux/codectl.h>
#include <linux/prctl.h>
#include <linux/types.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The ABI, and where CALL leaves the return address: 0 is nowhere fixed. */
#if defined(__x86_64__)
#define SECTION_ABI 3
#define SECTION_FIXED_RA -8
#elif defined(__aarch64__) && defined(__AARCH64EB__)
#define SECTION_ABI 1
#define SECTION_FIXED_RA 0
#elif defined(__aarch64__)
#define SECTION_ABI 2
#define SECTION_FIXED_RA 0
#elif defined(__s390x__)
#define SECTION_ABI 4
#define SECTION_FIXED_RA 0
#else
#define SECTION_ABI 0
#define SECTION_FIXED_RA 0
#endif

#define SECTION_SORTED_PCREL 0x05
#define ROW_SP 0x01
#define ROW_WORDS_SHIFT 1
#define MAX_ROW_BYTES 16

/*
 * A row whose CFA is SP plus the first word: where it begins, and with two words also where
 * the next register was saved, from the CFA: FP where the return address is fixed.
 */
struct section_row {
	__u8 start;
	__u8 words;
	__s8 word[2];
};

/* Version 3. */
struct section {
	__u16 magic;
	__u8 version, flags, abi;
	__s8 fixed_fp, fixed_ra;
	__u8 aux_len;
	__u32 num_fdes, num_fres, fre_len, fde_off, fre_off;
	/* the function */
	__s64 function_start;
	__u32 function_size, function_rows;
	/* its attributes, and then its rows */
	__u16 row_count;
	__u8 function_info, function_info2, repetition;
	__u8 rows[MAX_ROW_BYTES];
} __attribute__((packed));

static inline void section_init(struct section *s, const void *text, __u32 size,
				const struct section_row *rows, unsigned int count)
{
	*s = (struct section){
		.magic = 0xdee2,
		.version = 3,
		.flags = SECTION_SORTED_PCREL,
		.abi = SECTION_ABI,
		.fixed_ra = SECTION_FIXED_RA,
		.num_fdes = 1,
		.num_fres = count,
		.fre_len = 5,
		.fre_off = 16,
		.function_start = (const char *)text - (const char *)&s->function_start,
		.function_size = size,
		.row_count = count,
	};
	for (unsigned int i = 0; i < count; i++) {
		__u8 *row = (__u8 *)&s->row_count + s->fre_len;

		row[0] = rows[i].start;
		row[1] = ROW_SP | rows[i].words << ROW_WORDS_SHIFT;
		for (unsigned int j = 0; j < rows[i].words; j++)
			row[2 + j] = rows[i].word[j];
		s->fre_len += 2 + rows[i].words;
	}
}

static inline __u64 address(const void *p)
{
	return (unsigned long)p;
}

/* Of all that was used of it. */
static inline __u64 section_size(const struct section *s)
{
	return (const char *)&s->row_count - (const char *)s + s->fre_len;
}

static inline int sframe_register(const struct sframe_setup *setup, size_t size)
{
	return syscall(__NR_sframe_register, setup, size);
}

static inline int sframe_unregister(const struct sframe_setup *setup, size_t size)
{
	return syscall(__NR_sframe_unregister, setup, size);
}

static inline int codectl(unsigned int option, const void *info, size_t size, unsigned int flags)
{
	return syscall(__NR_codectl, option, info, size, flags);
}

#endif
