/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * published_code.h - read the page of another process, which is not trusted.
 */
#ifndef BOBBIN_CODEMAP_PUBLISHED_CODE_H
#define BOBBIN_CODEMAP_PUBLISHED_CODE_H

#include <bobbin/code_page.h>
#include <stdbool.h>

/* A range that a process registered, checked: start < end, strings are bounded. */
struct published_range {
	struct bobbin_code_entry entry;
	uint64_t elf_start, elf_end;
	char *path, *debug_link; /* or NULL */
	uint32_t debug_link_crc;
	uint8_t build_id[20];
	uint8_t build_id_len;
};

/* All of them, in ascending order, without overlaps. */
struct published_code {
	int pid;
	uint64_t page;    /* its address; 0: not found yet */
	uint64_t changes; /* of the page when it was read */
	struct published_range *ranges;
	size_t count;
};

/* Nothing is read yet. */
void published_code_init(int pid, struct published_code *ret);
void published_code_fini(struct published_code *code);

/*
 * Look for the page if it is not known, and read it if it has changed.  1: there
 * is something new; 0: nothing; -ENOENT: there is no page; -EBADMSG: it makes no
 * sense; -EAGAIN: it changes too fast, what could be read is there; other errnos
 * of reading the process's memory.
 */
int published_code_update(struct published_code *code);

/* Bytes of the process's memory.  0, -EFAULT, -ESRCH, -EPERM. */
int published_code_read(const struct published_code *code, uint64_t addr, void *dst, size_t size);

#endif
