// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * sframe_syscalls.c - codectl(2), sframe_register(2), sframe_unregister(2), and prctl(2).
 *
 * The structures may be of an older or newer caller, as clone3(2) has it: what is missing
 * counts as zero, what is not known here must be zero.
 */
#include <linux/compat.h>
#include <linux/elf.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/syscalls.h>
#include <linux/uaccess.h>
#include <linux/unwind_user_sframe.h>

#include "compiled.h"
#include "jit/jit_table.h"
#include "section_registration.h"

#define MAX_STRUCT 4096
#define MAX_RANGES 1024
#define MAX_BUILD_ID 20
#define TABLE_FLAGS (CODE_TABLE_FILE | CODE_TABLE_ZSTD | CODE_TABLE_COMPILED)

static int copy_struct(void *dst, size_t dst_size, const void __user *src, size_t size)
{
	if (!size)
		return -EINVAL;
	if (size > MAX_STRUCT)
		return -E2BIG;
	return copy_struct_from_user(dst, dst_size, src, size);
}

static void __user *user_pointer(u64 addr)
{
	return (void __user *)(unsigned long)addr;
}

/* sframe_register(2), and prctl() */

static int register_section(u64 start, u64 size, u64 text_start, u64 text_end)
{
	struct code_text_range text = {text_start, text_end};
	int status = sframe_check_ranges(&text, 1);

	if (!status)
		status = sframe_check_table(start, start + size);
	if (status)
		return status;
	return sframe_register_memory(start, start + size, &text, 1, SFRAME_SECTION_END);
}

static int unregister_section(unsigned long start)
{
	if (!start)
		return -EINVAL;
	return sframe_unregister_section(BIT(SFRAME_SECTION), start, NULL);
}

SYSCALL_DEFINE2(sframe_register, const struct sframe_setup __user *, from, size_t, size)
{
	struct sframe_setup setup;
	int status = copy_struct(&setup, sizeof(setup), from, size);

	if (status)
		return status;
	if (setup.flags)
		return -EINVAL;
	return register_section(setup.sframe_start, setup.sframe_size, setup.text_start,
				setup.text_start + setup.text_size);
}

SYSCALL_DEFINE2(sframe_unregister, const struct sframe_setup __user *, from, size_t, size)
{
	struct sframe_setup setup;
	int status = copy_struct(&setup, sizeof(setup), from, size);

	if (status)
		return status;
	if (setup.sframe_size || setup.text_start || setup.text_size || setup.flags)
		return -EINVAL;
	return unregister_section(setup.sframe_start);
}

/* Sections of 32-bit code do not exist: such a task would only lose its frame pointers. */
int sframe_prctl_add(unsigned long start, unsigned long end, unsigned long text_start,
		     unsigned long text_end)
{
	if (in_compat_syscall())
		return -EINVAL;
	return register_section(start, end - start, text_start, text_end);
}

int sframe_prctl_remove(unsigned long start, unsigned long arg3, unsigned long arg4,
			unsigned long arg5)
{
	if (arg3 || arg4 || arg5)
		return -EINVAL;
	return unregister_section(start);
}

/* codectl(CODE_REGISTER_ELF) */

/* What belongs together is there, or is not. */
static bool is_whole(const struct code_elf_info *i)
{
	return !i->elf_start == !i->elf_end && !i->sframe_start == !i->sframe_end &&
	       !i->build_id == !i->build_id_len && !i->text_ranges == !i->text_range_count &&
	       (i->debug_link_pathname || !i->debug_link_crc);
}

static int check_numbers(const struct code_elf_info *i)
{
	if (i->reserved || i->table_flags & ~TABLE_FLAGS || !is_whole(i))
		return -EINVAL;
	if (!(i->table_flags & CODE_TABLE_FILE) &&
	    (i->table_flags || i->table_fd || i->table_offset || i->table_size || i->table_addr))
		return -EINVAL;
	if (i->table_flags && i->sframe_start)
		return -EINVAL;
	if (i->elf_end && i->elf_start >= i->elf_end)
		return -EINVAL;
	if (i->build_id_len > MAX_BUILD_ID)
		return -EINVAL;
	return i->text_range_count > MAX_RANGES ? -E2BIG : 0;
}

/* The kernel knows the file of a mapping better than its process; names must be names. */
static int check_string(u64 addr)
{
	char *copy;
	long length;

	if (!addr)
		return 0;
	length = strnlen_user(user_pointer(addr), PATH_MAX);
	if (!length)
		return -EFAULT;
	if (length > PATH_MAX)
		return -ENAMETOOLONG;
	copy = strndup_user(user_pointer(addr), PATH_MAX);
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	kfree(copy);
	return 0;
}

static int check_identity(const struct code_elf_info *info)
{
	u8 build_id[MAX_BUILD_ID];
	int status = check_string(info->pathname);

	if (!status)
		status = check_string(info->debug_link_pathname);
	if (!status && copy_from_user(build_id, user_pointer(info->build_id), info->build_id_len))
		status = -EFAULT;
	return status;
}

static int copy_ranges(const struct code_elf_info *info, struct sframe_section *section)
{
	size_t more = (size_t)info->text_range_count * sizeof(*section->ranges);
	int status;

	section->ranges[0] = (struct code_text_range){info->text_start, info->text_end};
	if (copy_from_user(section->ranges + 1, user_pointer(info->text_ranges), more))
		return -EFAULT;
	status = sframe_check_ranges(section->ranges, section->range_count);
	/* they do not overlap */
	while (!status && section->ranges[section->first].start != info->text_start)
		section->first++;
	return status;
}

/* An image is where it is said to be, and has the text. */
static int check_image(const struct code_elf_info *info, const struct sframe_section *section)
{
	char magic[SELFMAG];

	if (!info->elf_end)
		return 0;
	for (unsigned int i = 0; i < section->range_count; i++)
		if (section->ranges[i].start < info->elf_start ||
		    section->ranges[i].end > info->elf_end)
			return -EINVAL;
	if (info->elf_end - info->elf_start < sizeof(struct elf64_hdr))
		return -EINVAL;
	if (copy_from_user(magic, user_pointer(info->elf_start), sizeof(magic)))
		return -EFAULT;
	return memcmp(magic, ELFMAG, SELFMAG) ? -EINVAL : 0;
}

/* The bytes of a regular file that are a table. */
static int check_file_range(const struct code_elf_info *info, const struct file *file)
{
	u64 end;

	if (!(file->f_mode & FMODE_READ))
		return -EBADF;
	if (!S_ISREG(file_inode(file)->i_mode) || !info->table_size)
		return -EINVAL;
	if (info->table_size > SFRAME_MAX_TABLE)
		return -EFBIG;
	if (check_add_overflow(info->table_offset, info->table_size, &end) ||
	    end > i_size_read(file_inode(file)))
		return -EINVAL;
	return 0;
}

static int open_compiled(const struct code_elf_info *info, unsigned long data,
			 struct sframe_section *section)
{
	u8 build_id[MAX_BUILD_ID];

	section->kind = SFRAME_COMPILED;
	if (copy_from_user(build_id, user_pointer(info->build_id), info->build_id_len))
		return -EFAULT;
	return sframe_open_compiled(section, data, info->table_size, info->table_addr, build_id,
				    info->build_id_len);
}

/* Of what is mapped for a table the map is told, to unmap it again. */
static int keep_pages(struct sframe_section *section, unsigned long at, unsigned long size)
{
	struct mm_struct *mm = current->mm;
	int status = mmap_write_lock_killable(mm);

	section->mapped = at;
	section->mapped_size = size;
	if (!status) {
		status = sframe_map_keep_pages(mm, section);
		mmap_write_unlock(mm);
	}
	if (status)
		section->mapped = 0;
	return status;
}

/*
 * A table in a file is mapped, where nothing is yet.  So its pages are those of the page
 * cache, and count as the process's; walks read it like any other table; and what becomes
 * of the file is what becomes of any mapping's.
 */
static int map_table(const struct code_elf_info *info, struct file *file,
		     struct sframe_section *section)
{
	unsigned long skip = offset_in_page(info->table_offset), at;
	int status = check_file_range(info, file);

	if (status)
		return status;
	at = vm_mmap(file, 0, skip + info->table_size, PROT_READ, MAP_PRIVATE,
		     info->table_offset - skip);
	if (IS_ERR_VALUE(at))
		return at;
	status = keep_pages(section, at, PAGE_ALIGN(skip + info->table_size));
	if (status) {
		/* else it is somebody else's by now */
		if (status != -EFAULT)
			vm_munmap(at, skip + info->table_size);
		return status;
	}
	section->key = info->text_start;
	if (info->table_flags & CODE_TABLE_COMPILED)
		return open_compiled(info, at + skip, section);
	section->kind = SFRAME_FILE;
	return sframe_open_section(section, at + skip, info->table_size, info->table_addr,
				   SFRAME_SECTION_END);
}

static int open_file(const struct code_elf_info *info, struct sframe_section *section)
{
	struct file *file = fget(info->table_fd);
	int status;

	if (!file)
		return -EBADF;
	status = map_table(info, file, section);
	fput(file);
	return status;
}

static int open_table(const struct code_elf_info *info, struct sframe_section *section)
{
	int status;

	/* who has a compressed table decompresses it: into a memory file, for instance */
	if (info->table_flags & CODE_TABLE_ZSTD)
		return -EOPNOTSUPP;
	if (info->table_flags)
		return open_file(info, section);
	section->key = info->sframe_start ?: info->text_start;
	section->kind = info->sframe_start ? SFRAME_SECTION : SFRAME_NAMED;
	if (!info->sframe_start)
		return 0;
	status = sframe_check_table(info->sframe_start, info->sframe_end);
	if (status)
		return status;
	return sframe_open_section(section, info->sframe_start,
				   info->sframe_end - info->sframe_start, info->sframe_start,
				   SFRAME_SECTION_END);
}

static int register_elf(const void __user *from, size_t size)
{
	struct sframe_section *section;
	struct code_elf_info info;
	int status = copy_struct(&info, sizeof(info), from, size);

	if (!status)
		status = check_numbers(&info);
	if (status)
		return status;
	section = sframe_section_alloc(info.text_range_count + 1);
	if (!section)
		return -ENOMEM;
	status = copy_ranges(&info, section);
	if (!status)
		status = check_identity(&info);
	if (!status)
		status = check_image(&info, section);
	if (!status)
		status = open_table(&info, section);
	if (!status)
		return sframe_register_section(section);
	sframe_section_free(section);
	return status;
}

/* codectl(CODE_REGISTER_JIT) */

static int check_jit_head(const struct code_jit_info *info)
{
	struct code_jit_unwind_table head;

	if (info->text_end - info->text_start > U32_MAX || !info->unwind_head ||
	    info->unwind_head % sizeof(u64))
		return -EINVAL;
	if (copy_from_user(&head, user_pointer(info->unwind_head), sizeof(head)))
		return -EFAULT;
	return jit_table_check(info->unwind_head, head.reserved_len, head.used_len, NULL);
}

static int register_jit(const void __user *from, size_t size)
{
	struct sframe_section *section;
	struct code_text_range text;
	struct code_jit_info info;
	int status = copy_struct(&info, sizeof(info), from, size);

	if (status)
		return status;
	text = (struct code_text_range){info.text_start, info.text_end};
	status = sframe_check_ranges(&text, 1);
	if (!status)
		status = check_jit_head(&info);
	if (status)
		return status;
	section = sframe_section_alloc(1);
	if (!section)
		return -ENOMEM;
	section->kind = SFRAME_JIT;
	section->key = info.unwind_head;
	section->ranges[0] = text;
	return sframe_register_section(section);
}

/* codectl(CODE_UNREGISTER) */

static int unregister_text(unsigned int kinds, u64 key, u64 start, u64 end)
{
	const struct code_text_range text = {start, end};

	return end ? sframe_unregister_section(kinds, key, &text) : -EINVAL;
}

static int unregister_jit(const void __user *from, size_t size)
{
	struct code_jit_info info;
	int status = copy_struct(&info, sizeof(info), from, size);

	if (status)
		return status;
	return unregister_text(BIT(SFRAME_JIT), info.unwind_head, info.text_start, info.text_end);
}

static int unregister_elf(const void __user *from, size_t size)
{
	struct code_elf_info info;
	int status = copy_struct(&info, sizeof(info), from, size);

	if (status)
		return status;
	if (info.sframe_start)
		return unregister_text(BIT(SFRAME_SECTION), info.sframe_start, info.text_start,
				       info.text_end);
	return unregister_text(BIT(SFRAME_FILE) | BIT(SFRAME_COMPILED) | BIT(SFRAME_NAMED),
			       info.text_start, info.text_start, info.text_end);
}

/*
 * The structure does not say which it is, but both begin with addresses: it is the one by
 * which something was registered.  One that is no JIT's is -E2BIG as such.
 */
static int unregister(const void __user *info, size_t size)
{
	int as_jit = unregister_jit(info, size), status;

	if (as_jit != -ENOENT && as_jit != -E2BIG && as_jit != -EINVAL)
		return as_jit;
	status = unregister_elf(info, size);
	return status == -EINVAL && as_jit == -ENOENT ? as_jit : status;
}

SYSCALL_DEFINE4(codectl, unsigned int, option, const void __user *, info, size_t, info_size,
		unsigned int, flags)
{
	if (flags)
		return -EINVAL;
	switch (option) {
	case CODE_REGISTER_ELF:
		return register_elf(info, info_size);
	case CODE_REGISTER_JIT:
		return register_jit(info, info_size);
	case CODE_UNREGISTER:
		return unregister(info, info_size);
	default:
		return -EINVAL;
	}
}
