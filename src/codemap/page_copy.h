/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * page_copy.h - read the page of another process, which is not trusted.
 *
 *	page_copy_init(&process, &code);
 *	if (page_copy_update(&code) > 0)
 *		use code.ranges
 *
 * An update of an unchanged page is one system call.
 */
#ifndef BOBBIN_CODEMAP_PAGE_COPY_H
#define BOBBIN_CODEMAP_PAGE_COPY_H

#include <bobbin/code_page.h>
#include <bobbin/step.h>
#include <stdbool.h>

#include "base/proc_maps.h"

/* What is believed of a page, at most. */
#define PAGE_COPY_MAX_ENTRIES (1u << 20)
#define PAGE_COPY_MAX_STRING 4096u
#define PAGE_COPY_MAX_STRINGS (64u << 20) /* bytes, all together */

/* What an entry costs its reader, with what is made of it. */
#define PAGE_COPY_ENTRY_BYTES 256u

/* The file that code belongs to, as the process says; zero or NULL: unknown. */
struct page_image {
	uint64_t start, end;
	char *path;
	uint8_t build_id[20];
	uint8_t build_id_len;
};

/* A range that a process registered, checked: start < end, strings are bounded. */
struct page_range {
	struct bobbin_code_entry entry;
	struct page_image image;
	char *debug_link; /* or NULL */
	uint32_t debug_link_crc;
};

/* All of them, in ascending order, without overlaps. */
struct page_copy {
	struct remote_process process;
	uint64_t page;     /* its address; 0: not found yet */
	uint64_t changes;  /* of the page when it was read */
	uint32_t page_pid; /* what the process says that it is */
	struct page_range *ranges;
	size_t count;
	/* the reader's memory */
	uint64_t limit;    /* bytes that an update may keep; 0: no other limit than the above */
	uint64_t bytes;    /* that are kept */
	uint64_t left_out; /* entries that there was no room for */
};

/* Nothing is read yet. */
void page_copy_init(const struct remote_process *process, struct page_copy *ret);
void page_copy_fini(struct page_copy *code);

/* Whether a mapping has the name of a page; others may have it, too. */
bool page_copy_may_be(const struct proc_map *map);

/*
 * Look for the page if it is not known, and read it if it has changed.  1: there
 * is something new, which may be that nothing is left; 0: nothing; -ENOENT: there
 * is no page; -EBADMSG: it makes no sense; -EAGAIN: it changes too fast, what could
 * be read is there; -ENOMEM; other errnos of reading the process's memory.
 */
int page_copy_update(struct page_copy *code);

/* Whether a page is unchanged, as @process has it: it may be a copy of the one that was read. */
bool page_copy_is_same(const struct page_copy *code, const struct remote_process *process);

/*
 * The part of an update that reads the page at @code->page, through @mem.  @process: that
 * @mem reads, to read many pieces at once; or NULL.  -EFAULT: there is no readable page;
 * otherwise as above.
 */
int page_copy_parse(struct page_copy *code, const struct bobbin_mem *mem,
		    const struct remote_process *process);

/* Whether the page at @code->page is as it was when it was read. */
bool page_copy_unchanged(const struct page_copy *code, const struct bobbin_mem *mem);

/* Whether a page is at @addr that can be read: 0, -EFAULT, -EBADMSG. */
int page_copy_probe(uint64_t addr, const struct bobbin_mem *mem);

#endif
