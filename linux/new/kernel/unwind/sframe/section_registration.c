// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * section_registration.c - check what is registered for the current mm, and put it into its map.
 *
 * Headers are read before the mmap lock is taken, because that may wait for pages.  What
 * has to be true of mappings is checked under it.  Nothing here takes longer for a large
 * section than for a small one, but for the validator.
 */
#include "section_registration.h"
#include "window_lookup.h"

#include <bobbin/sframe_validate.h>

#include <linux/bits.h>
#include <linux/mm.h>
#include <linux/ratelimit.h>
#include <linux/sched.h>
#include <linux/sort.h>
#include <linux/uaccess.h>

#define MAX_TEXT BIT_ULL(40)

static int compare_starts(const void *a, const void *b)
{
	const struct code_text_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

int sframe_check_ranges(struct code_text_range *ranges, unsigned int count)
{
	sort(ranges, count, sizeof(*ranges), compare_starts, NULL);
	for (unsigned int i = 0; i < count; i++) {
		/* what is mapped is looked at later: a section that does not fit is told first */
		if (ranges[i].start >= ranges[i].end || ranges[i].end - ranges[i].start > MAX_TEXT)
			return -EINVAL;
		if (i && ranges[i].start < ranges[i - 1].end)
			return -EINVAL;
	}
	return 0;
}

int sframe_check_table(u64 start, u64 end)
{
	if (!start || start >= end)
		return -EINVAL;
	return end - start > SFRAME_MAX_TABLE ? -EFBIG : 0;
}

/* Not that it can be read: that would take its pages, and walks find out. */
static int check_mapped(unsigned long start, unsigned long end)
{
	VMA_ITERATOR(vmi, current->mm, start);
	struct mm_struct *mm = current->mm;
	int status = mmap_read_lock_killable(mm);
	struct vm_area_struct *vma;
	unsigned long at = start;

	if (status)
		return status;
	for_each_vma_range(vmi, vma, end) {
		if (vma->vm_start > at || !(vma->vm_flags & VM_READ))
			break;
		at = vma->vm_end;
	}
	mmap_read_unlock(mm);
	return at >= end ? 0 : -EFAULT;
}

/*
 * Whoever only concatenated sections would lose all but the first.  The next one would begin
 * here, but for what it is aligned by.
 */
static int check_after(unsigned long from, unsigned long end)
{
	u8 bytes[64];
	size_t count = min_t(size_t, end - from, sizeof(bytes));

	if (copy_from_user(bytes, (const void __user *)from, count))
		return -EFAULT;
	return memchr_inv(bytes, 0, count) ? -EBADMSG : 0;
}

int sframe_view(unsigned long data, u64 size, u64 addr, struct bobbin_error *error,
		struct bobbin_sframe_view *ret)
{
	struct bobbin_sframe_view view;
	int status = bobbin_sframe_view((const void *)data, size, addr, error, &view);

	if (status)
		return status;
	/* any function of an unsorted section may be the one: a walk would read all of them */
	if (view.arch != BOBBIN_NATIVE_ARCH() || (!view.sorted && view.num_fdes > 1))
		return -EBADMSG;
	*ret = view;
	return 0;
}

static void report_defect(void *ctx, const struct bobbin_sframe_defect *defect)
{
	const struct bobbin_sframe_view *view = ctx;

	if (defect->severity == BOBBIN_SFRAME_ERROR)
		pr_debug_ratelimited("sframe: %s[%d]: section at %#llx: offset %llu: %s\n",
				     current->comm, task_pid_nr(current), view->addr,
				     defect->offset, bobbin_reason_str(defect->reason));
}

/* Look at each byte, if that is configured.  Who is to die reads none, see core/memory.h. */
static int validate(struct bobbin_sframe_view *view)
{
	if (!IS_ENABLED(CONFIG_UNWIND_USER_SFRAME_VALIDATION))
		return 0;
	if (bobbin_sframe_validate(view, NULL, report_defect, view) != BOBBIN_SFRAME_ERROR)
		return 0;
	return fatal_signal_pending(current) ? -EINTR : -EBADMSG;
}

int sframe_open_section(struct sframe_section *section, unsigned long data, u64 size, u64 addr,
			enum sframe_scrutiny scrutiny)
{
	struct bobbin_sframe_view view;
	int status;

	status = sframe_view(data, size, addr, NULL, &view);
	if (status == -ENODATA)
		view = (struct bobbin_sframe_view){.size = size, .addr = addr};
	else if (status)
		return status;
	if (scrutiny == SFRAME_SECTION_END) {
		status = check_mapped(data, data + size);
		if (!status && view.data)
			status = check_after(data + view.size, data + size);
		if (!status && view.data)
			status = validate(&view);
		if (status)
			return status;
	}
	section->view = view;
	section->plain = sframe_plain_words(&view);
	return 0;
}

int sframe_register_section(struct sframe_section *section)
{
	struct mm_struct *mm = current->mm;
	int status = mmap_write_lock_killable(mm);

	if (!status) {
		status = sframe_map_insert(mm, section);
		mmap_write_unlock(mm);
	}
	if (status)
		sframe_section_free(section);
	return status;
}

int sframe_register_memory(u64 start, u64 end, const struct code_text_range *text,
			   unsigned int count, enum sframe_scrutiny scrutiny)
{
	struct sframe_section *section = sframe_section_alloc(count);
	int status;

	if (!section)
		return -ENOMEM;
	memcpy(section->ranges, text, count * sizeof(*text));
	section->kind = SFRAME_SECTION;
	section->key = start;
	status = sframe_open_section(section, start, end - start, start, scrutiny);
	if (!status)
		return sframe_register_section(section);
	sframe_section_free(section);
	return status;
}

int sframe_unregister_section(unsigned int kinds, unsigned long key,
			      const struct code_text_range *text)
{
	struct mm_struct *mm = current->mm;
	int status = mmap_write_lock_killable(mm);

	if (!status) {
		status = sframe_map_remove(mm, kinds, key, text);
		mmap_write_unlock(mm);
	}
	return status;
}
