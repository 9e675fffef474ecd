/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * page_writer.h - write the page that tells other processes of registered code.
 *
 * The page is a memory file of a known name, see <bobbin/code_page.h>; where
 * there are none, anonymous memory of that name.  A forked child inherits a copy
 * of the memory, which is its own page from then on.  One writer at a time;
 * page_writer_dropped() alone may be called from anywhere.
 *
 * Entries are in memory that was reserved at once and is made usable as they get
 * more, so that they never move.  A change is some ten stores, tens of nanoseconds.
 */
#ifndef BOBBIN_CODEMAP_PAGE_WRITER_H
#define BOBBIN_CODEMAP_PAGE_WRITER_H

#include <bobbin/code_page.h>
#include <bobbin/reason.h>

/* Entries that a page can have, and that readers look at. */
#define PAGE_WRITER_MAX_ENTRIES (1u << 20)

struct page_writer;

/* -ENOMEM, or the errno of mmap(2). */
int page_writer_open(struct page_writer **ret);
void page_writer_close(struct page_writer *p);

/*
 * What is said of a range; sequence and dropped are not looked at.  -ENOMEM;
 * -ENOSPC: there are PAGE_WRITER_MAX_ENTRIES.
 */
int page_writer_add(struct page_writer *p, const struct bobbin_code_entry *entry, uint32_t *ret);

/*
 * The range is not registered any more.  The next page_writer_add() may return
 * the same number, so nobody must be left who can call page_writer_dropped() for
 * this one, unless it is enough that the page may say it of another.
 */
void page_writer_remove(struct page_writer *p, uint32_t number);

/* The entry's table serves no more.  The first call counts.  Async-signal-safe, no lock. */
void page_writer_dropped(struct page_writer *p, uint32_t number, uint64_t dropped);

/*
 * In a forked child.  A change that another thread had under way is ended: its entry
 * is free, and stays so.
 */
void page_writer_forked(struct page_writer *p);

/* The page, for tests. */
const struct bobbin_code_page *page_writer_page(const struct page_writer *p);

/*
 * Called after each change with the entry's number and its kind by now; does
 * nothing.  Debuggers and uprobes find it by its name or by the page's @probe.
 */
void bobbin_code_changed(uint32_t number, uint32_t kind);

#endif
