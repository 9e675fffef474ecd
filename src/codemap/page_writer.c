/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Readers are other processes, so there is no waiting for them: each entry is a
 * sequence lock.  Its barriers, in the writer:
 *
 *	sequence = odd		relaxed
 *	fields = ...		release: who sees a new field sees the odd number
 *	sequence = even		release: who sees it sees all fields
 *	entry_count = ...	release: who sees it sees the entry
 *	changes++		release: who sees it sees the change
 */
#include "codemap/page_writer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/deps.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008u /* Linux 6.3 */
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41 /* Linux 5.17 */
#define PR_SET_VMA_ANON_NAME 0
#endif

#define MIN_RESERVED (1u << 12)
#define FIRST_ENTRIES 64u
#define NO_ENTRY UINT32_MAX

struct page_writer {
	struct bobbin_code_page *page;
	size_t page_size, reserved_size;
	struct bobbin_code_entry *entries;
	uint32_t reserved, usable, used; /* entries: address space, memory, ever in use */
	uint32_t free;                   /* first of a list, or NO_ENTRY */
	uint32_t changing;               /* the last that was */
	uint32_t *next_free;             /* by number */
};

/* A field that another process may read at this moment. */
static void tell(uint64_t *field, uint64_t value)
{
	__atomic_store_n(field, value, __ATOMIC_RELEASE);
}

static void tell32(uint32_t *field, uint32_t value)
{
	__atomic_store_n(field, value, __ATOMIC_RELEASE);
}

/* The writer alone changes sequences: it knows what is there. */
static void begin_change(uint64_t *sequence)
{
	__atomic_store_n(sequence, *sequence + 1, __ATOMIC_RELAXED);
}

static void end_change(uint64_t *sequence)
{
	__atomic_store_n(sequence, *sequence + 1, __ATOMIC_RELEASE);
}

BOBBIN_API __attribute__((noinline)) void bobbin_code_changed(uint32_t number, uint32_t kind)
{
	/* a compiler that sees an empty function leaves its calls out */
	__asm__ volatile("" : : "r"(number), "r"(kind) : "memory");
}

static void announce(struct page_writer *p, uint32_t number, uint32_t kind)
{
	/* not a plain addition: page_writer_dropped() may run in between */
	__atomic_fetch_add(&p->page->changes, 1, __ATOMIC_RELEASE);
	bobbin_code_changed(number, kind);
}

/* Private, so that a forked child's changes are its own. */
static int map_page(size_t size, void **ret)
{
	int fd = memfd_create(BOBBIN_CODE_PAGE_NAME, MFD_CLOEXEC | MFD_NOEXEC_SEAL);
	void *page = MAP_FAILED;

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(BOBBIN_CODE_PAGE_NAME, MFD_CLOEXEC);
	if (fd >= 0) {
		if (!ftruncate(fd, (off_t)size))
			page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
		close(fd);
	}
	if (page != MAP_FAILED) {
		*ret = page;
		return 0;
	}
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return -errno;
	if (prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, page, size, BOBBIN_CODE_PAGE_NAME)) {
		int r = -errno;

		munmap(page, size); /* nobody would find it */
		return r;
	}
	*ret = page;
	return 0;
}

/* Address space costs nothing, but may be limited. */
static int reserve_entries(struct page_writer *p)
{
	for (p->reserved = PAGE_WRITER_MAX_ENTRIES; p->reserved >= MIN_RESERVED; p->reserved /= 2) {
		void *entries;

		p->reserved_size = p->reserved * sizeof(*p->entries);
		entries = mmap(NULL, p->reserved_size, PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (entries != MAP_FAILED) {
			p->entries = entries;
			return 0;
		}
	}
	return -ENOMEM;
}

/* Make room for more entries; readers wait for an even sequence. */
static int grow(struct page_writer *p)
{
	uint32_t usable = p->usable ? 2 * p->usable : FIRST_ENTRIES;
	uint32_t *next_free;

	if (p->usable == p->reserved)
		return -ENOSPC;
	next_free = realloc(p->next_free, usable * sizeof(*next_free));
	if (!next_free)
		return -ENOMEM;
	p->next_free = next_free;
	if (mprotect(p->entries, usable * sizeof(*p->entries), PROT_READ | PROT_WRITE))
		return -ENOMEM;
	p->usable = usable;
	begin_change(&p->page->sequence);
	tell(&p->page->entries, (uintptr_t)p->entries);
	tell(&p->page->entry_max, usable);
	end_change(&p->page->sequence);
	return 0;
}

static void begin_page(struct bobbin_code_page *page)
{
	page->header_size = sizeof(struct bobbin_code_page);
	page->entry_size = sizeof(struct bobbin_code_entry);
	page->pid = (uint32_t)getpid();
	page->probe = (uintptr_t)bobbin_code_changed;
	/* release: who sees these sees the rest */
	tell32(&page->version, BOBBIN_CODE_PAGE_VERSION);
	tell(&page->magic, BOBBIN_CODE_PAGE_MAGIC);
}

int page_writer_open(struct page_writer **ret)
{
	struct page_writer *p = calloc(1, sizeof(*p));
	void *page = NULL;
	int r;

	if (!p)
		return -ENOMEM;
	p->free = NO_ENTRY;
	r = reserve_entries(p);
	if (r)
		goto out;
	p->page_size = (size_t)sysconf(_SC_PAGESIZE);
	r = map_page(p->page_size, &page);
	if (r)
		goto out;
	p->page = page;
	r = grow(p);
	if (r)
		goto out;
	begin_page(p->page);
	*ret = p;
	return 0;
out:
	page_writer_close(p);
	return r;
}

void page_writer_close(struct page_writer *p)
{
	if (!p)
		return;
	if (p->page)
		munmap(p->page, p->page_size);
	if (p->entries)
		munmap(p->entries, p->reserved_size);
	free(p->next_free);
	free(p);
}

/* From here to end_change(), a child of clone(2) may be left with half an entry. */
static struct bobbin_code_entry *begin_entry(struct page_writer *p, uint32_t number)
{
	struct bobbin_code_entry *entry = &p->entries[number];

	p->changing = number;
	begin_change(&entry->sequence);
	return entry;
}

static void fill(struct page_writer *p, uint32_t number, const struct bobbin_code_entry *from)
{
	struct bobbin_code_entry *to = begin_entry(p, number);

	tell(&to->id, from->id);
	tell32(&to->kind, from->kind);
	tell32(&to->flags, from->flags);
	tell(&to->text_start, from->text_start);
	tell(&to->text_end, from->text_end);
	tell(&to->table, from->table);
	tell(&to->table_size, from->table_size);
	tell(&to->table_addr, from->table_addr);
	tell(&to->identity, from->identity);
	tell(&to->dropped, 0);
	end_change(&to->sequence);
}

int page_writer_add(struct page_writer *p, const struct bobbin_code_entry *entry, uint32_t *ret)
{
	uint32_t number = p->free;

	if (number != NO_ENTRY) {
		p->free = p->next_free[number];
		fill(p, number, entry);
	} else {
		int r = p->used == p->usable ? grow(p) : 0;

		if (r)
			return r;
		number = p->used++;
		fill(p, number, entry);
		tell(&p->page->entry_count, p->used);
	}
	announce(p, number, entry->kind);
	*ret = number;
	return 0;
}

void page_writer_remove(struct page_writer *p, uint32_t number)
{
	struct bobbin_code_entry *entry = begin_entry(p, number);

	tell32(&entry->kind, BOBBIN_CODE_FREE);
	end_change(&entry->sequence);
	p->next_free[number] = p->free;
	p->free = number;
	announce(p, number, BOBBIN_CODE_FREE);
}

void page_writer_dropped(struct page_writer *p, uint32_t number, uint64_t dropped)
{
	struct bobbin_code_entry *entry = &p->entries[number];
	uint64_t none = 0;

	/* release: the reason is there when @changes says so */
	if (__atomic_compare_exchange_n(&entry->dropped, &none, dropped, false, __ATOMIC_RELEASE,
					__ATOMIC_RELAXED))
		announce(p, number, __atomic_load_n(&entry->kind, __ATOMIC_RELAXED));
}

/* What another thread of the parent was about to say is not known: nothing. */
static void end_parents_change(struct page_writer *p)
{
	struct bobbin_code_entry *entry = &p->entries[p->changing];

	if (p->page->sequence % 2)
		end_change(&p->page->sequence);
	if (entry->sequence % 2) {
		tell32(&entry->kind, BOBBIN_CODE_FREE);
		end_change(&entry->sequence);
	}
}

void page_writer_forked(struct page_writer *p)
{
	end_parents_change(p);
	tell32(&p->page->pid, (uint32_t)getpid());
	announce(p, NO_ENTRY, BOBBIN_CODE_FREE);
}

const struct bobbin_code_page *page_writer_page(const struct page_writer *p)
{
	return p->page;
}
