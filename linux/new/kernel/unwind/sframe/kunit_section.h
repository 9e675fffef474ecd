/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kunit_section.h - the bytes of a section, version 3, as the format's specification has
 * them; nothing here is shared with the decoder.
 */
#ifndef _KERNEL_UNWIND_SFRAME_KUNIT_SECTION_H
#define _KERNEL_UNWIND_SFRAME_KUNIT_SECTION_H

#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched/mm.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <linux/unwind_user_sframe.h>

struct section_head {
	u16 magic;
	u8 version, flags, abi;
	s8 fixed_fp, fixed_ra;
	u8 aux_len;
	u32 num_fdes, num_fres, fre_len, fde_off, fre_off;
} __packed;

/* @start: from this field on */
struct section_entry {
	s64 start;
	u32 size, row_off;
} __packed;

/* What a function's rows begin with */
struct section_attributes {
	u16 num_fres;
	u8 info, info2, rep_size;
} __packed;

/* A row's info byte: words of a byte, from SP or FP */
#define INFO(base_sp, words) ((base_sp) | (words) << 1)

/* Of x86-64; sorted, starts are relative to their fields */
static inline struct section_head section_head(u32 functions, u32 rows, u32 row_bytes)
{
	return (struct section_head){
		.magic = 0xdee2,
		.version = 3,
		.flags = 0x05,
		.abi = 3,
		.fixed_ra = -8,
		.num_fdes = functions,
		.num_fres = rows,
		.fre_len = row_bytes,
		.fre_off = functions * sizeof(struct section_entry),
	};
}

/* Memory of the process that the test is */
static inline unsigned long section_map(struct kunit *test, size_t size, unsigned long prot)
{
	unsigned long at = kunit_vm_mmap(test, NULL, 0, PAGE_ALIGN(size), prot,
					 MAP_PRIVATE | MAP_ANONYMOUS, 0);

	KUNIT_ASSERT_NE(test, at, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(at));
	return at;
}

static inline void section_store(struct kunit *test, unsigned long at, const void *from,
				 size_t size)
{
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)at, from, size), 0);
}

/* What fork() does to the map.  Returns @child, which is the caller's to mmput(). */
static inline struct mm_struct *section_fork(struct kunit *test, struct mm_struct *child)
{
	KUNIT_ASSERT_NOT_NULL(test, child);
	mmap_write_lock(current->mm);
	mmap_write_lock_nested(child, SINGLE_DEPTH_NESTING);
	KUNIT_EXPECT_EQ(test, sframe_mm_dup(child, current->mm), 0);
	mmap_write_unlock(child);
	mmap_write_unlock(current->mm);
	return child;
}

/* The only suite of a file */
#define SECTION_SUITE(suite_name, cases) \
	static struct kunit_suite section_suite = { \
		.name = suite_name, \
		.test_cases = cases, \
	}; \
	kunit_test_suite(section_suite)

#endif
