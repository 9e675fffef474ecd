/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * registrar.h - register and unregister code: what all doors lead to.
 *
 *	codectl() sframe_register() prctl __register_frame JIT builder
 *	      └───────────┴────────────┴─────────┴────────────┘
 *			      registrar: check, number, publish
 *				   │                │
 *			       code map        publication
 *
 * A registrar is an address space's; the process's own is own_map().
 * All calls are thread-safe and none may be made from a signal handler.
 */
#ifndef BOBBIN_CODEMAP_REGISTRAR_H
#define BOBBIN_CODEMAP_REGISTRAR_H

#include <bobbin/code_page.h>
#include <bobbin/codectl.h>

#include "codemap/code_map.h"

struct registrar;

/* Identity of registered code, copied; zero: unknown. */
struct code_identity {
	uint64_t elf_start, elf_end;
	const char *path, *debug_link;
	const uint8_t *build_id;
	uint32_t build_id_len, debug_link_crc;
};

/**
 * struct code_request - what is to be registered, checked
 * @kind: not CODE_OBJECT
 * @key: by which it is unregistered: address of the table, or of the text where the
 *	table is not the caller's memory.  In use only once
 * @ranges, @count: text, ascending and not overlapping
 * @table, @table_size: in memory
 * @sframe: of the table; @addr is right even if @data is NULL
 * @identity: or NULL; copied
 * @owned, @free_owned: the table's memory, if it becomes the registration's
 * @added: by registrar_add_section()
 */
struct code_request {
	enum code_kind kind;
	uint64_t key;
	const struct code_text_range *ranges;
	size_t count;
	uint64_t table, table_size;
	struct bobbin_sframe_view sframe;
	const struct code_identity *identity;
	void *owned;
	void (*free_owned)(void *);
	bool added;
};

/* Which registration; zero: any. */
struct code_match {
	uint64_t key;
	unsigned int kinds; /* 1 << enum code_kind */
	uint64_t table;
	struct code_text_range text; /* one of them */
	bool added;                  /* by registrar_add_section(); false: not by that */
};

/* A kernel_call of kernel_door.h; NULL: no kernel has registrations, too. */
int registrar_open(long (*kernel)(long number, const void *setup, size_t size),
		   struct registrar **ret);
void registrar_close(struct registrar *registrar);

struct code_map *registrar_map(struct registrar *registrar);

/* Writers of the map itself (loaded objects) hold this. */
void registrar_lock(struct registrar *registrar);
void registrar_unlock(struct registrar *registrar);

/* Whether nobody has the lock now, not even this thread. */
bool registrar_is_free(struct registrar *registrar);

/* For checks, under the lock. */
struct own_mappings *registrar_mappings(struct registrar *registrar);

/* The page; NULL: this system allows none that could be found.  For tests. */
const struct bobbin_code_page *registrar_page(const struct registrar *registrar);

/*
 * Register what was checked; all ranges or none.  The lock is held.  -EEXIST: the
 * key or a part of the text is registered; -ENOMEM; -ENOSPC: the page is full.  On
 * failure @owned is still the caller's.
 */
int registrar_insert(struct registrar *registrar, const struct code_request *request,
		     enum bobbin_code_place *ret);

/* Unregister, and wait for readers.  -ENOENT. */
int registrar_unregister(struct registrar *registrar, const struct code_match *match);

/*
 * Register an SFrame section that is the library's own memory for text that need
 * not be checked; @free_section is called with @section when it is no longer read.
 * @key: what registrar_remove() takes.  Errors as sframe_register().
 */
int registrar_add_section(struct registrar *registrar, uint64_t key, void *section, size_t size,
			  const struct code_text_range *ranges, size_t count,
			  const struct code_identity *identity, void (*free_section)(void *));

/* Unregister what registrar_add_section() has added for @key, and wait for readers; -ENOENT. */
int registrar_remove(struct registrar *registrar, uint64_t key);

/* A walk found the table malformed: drop it, publish why.  Async-signal-safe. */
void registrar_drop(struct registrar *registrar, struct code *code,
		    const struct bobbin_error *error);

/* In a forked child; the lock is free afterwards, whoever had it. */
void registrar_forked(struct registrar *registrar);

#endif
