/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SFrame sections of user space: which text of a process each of them unwinds.
 *
 * A map belongs to an mm.  It is empty at exec but for the program and its
 * interpreter, is copied by fork, and is changed by system calls.
 */
#ifndef _LINUX_UNWIND_USER_SFRAME_H
#define _LINUX_UNWIND_USER_SFRAME_H

#include <linux/errno.h>
#include <linux/mm_types.h>
#include <linux/types.h>

struct elf64_phdr;
struct sframe_map;
struct unwind_user_state;

#ifdef CONFIG_HAVE_UNWIND_USER_SFRAME

static inline void sframe_mm_init(struct mm_struct *mm)
{
	mm->sframe_map = NULL;
}

/*
 * Whether a table is for some of the mapping that has @addr: code there that no table knows is
 * not guessed.  May wait for the mmap lock; true where that is not allowed, and where nothing
 * is mapped.
 */
bool sframe_mm_covers_mapping(struct mm_struct *mm, unsigned long addr);

/* The life of a map; the mmap lock is held for writing, but at exit. */
int sframe_mm_dup(struct mm_struct *mm, struct mm_struct *from);
void sframe_mm_unmap(struct mm_struct *mm, unsigned long start, unsigned long end);
void sframe_mm_exit(struct mm_struct *mm);

/* What execve() has mapped: @bias is where the file's address 0 is. */
void sframe_exec_image(const struct elf64_phdr *phdrs, unsigned int count, unsigned long bias);

/* prctl(PR_ADD_SFRAME), prctl(PR_REMOVE_SFRAME) */
int sframe_prctl_add(unsigned long start, unsigned long end, unsigned long text_start,
		     unsigned long text_end);
int sframe_prctl_remove(unsigned long start, unsigned long arg3, unsigned long arg4,
			unsigned long arg5);

/*
 * From a frame of the current task to its caller.  0; -ENOENT: no section knows
 * the code, nor does the code prove its caller; -EOPNOTSUPP: there are no sections of
 * 32-bit code; other errors: there is no caller.
 */
int unwind_user_next_sframe(struct unwind_user_state *state);

#else

static inline void sframe_mm_init(struct mm_struct *mm)
{
}

static inline bool sframe_mm_covers_mapping(struct mm_struct *mm, unsigned long addr)
{
	return false;
}

static inline int sframe_mm_dup(struct mm_struct *mm, struct mm_struct *from)
{
	return 0;
}

static inline void sframe_mm_unmap(struct mm_struct *mm, unsigned long start, unsigned long end)
{
}

static inline void sframe_mm_exit(struct mm_struct *mm)
{
}

static inline void sframe_exec_image(const struct elf64_phdr *phdrs, unsigned int count,
				     unsigned long bias)
{
}

static inline int sframe_prctl_add(unsigned long start, unsigned long end, unsigned long text_start,
				   unsigned long text_end)
{
	return -EINVAL;
}

static inline int sframe_prctl_remove(unsigned long start, unsigned long arg3, unsigned long arg4,
				      unsigned long arg5)
{
	return -EINVAL;
}

static inline int unwind_user_next_sframe(struct unwind_user_state *state)
{
	return -EOPNOTSUPP;
}

#endif /* CONFIG_HAVE_UNWIND_USER_SFRAME */
#endif /* _LINUX_UNWIND_USER_SFRAME_H */
