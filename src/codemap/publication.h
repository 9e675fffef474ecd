/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * publication.h - write the page that tells other processes of registered code.
 *
 * The page is a memory file of a known name, see <bobbin/code_page.h>; where
 * there are none, anonymous memory of that name.  A forked child inherits a copy
 * of the memory, which is its own page from then on.  One writer at a time;
 * publication_dropped() alone may be called from anywhere.
 */
#ifndef BOBBIN_CODEMAP_PUBLICATION_H
#define BOBBIN_CODEMAP_PUBLICATION_H

#include <bobbin/code_page.h>
#include <bobbin/reason.h>

struct publication;

/* -ENOMEM, or the errno of mmap(2). */
int publication_open(struct publication **ret);
void publication_close(struct publication *p);

/* What is said of a range; sequence and dropped are not looked at. */
int publication_add(struct publication *p, const struct bobbin_code_entry *entry, uint32_t *ret);
void publication_remove(struct publication *p, uint32_t number);

/* The entry's table serves no more.  Async-signal-safe, no lock. */
void publication_dropped(struct publication *p, uint32_t number, uint64_t dropped);

/* In a forked child. */
void publication_forked(struct publication *p);

/* The page, for tests. */
const struct bobbin_code_page *publication_page(const struct publication *p);

#endif
