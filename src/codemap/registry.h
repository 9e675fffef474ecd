/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * registry.h - register and unregister code, for all kinds of calls.
 *
 *	codectl() sframe_register() prctl __register_frame JIT builder
 *	      └───────────┴────────────┴─────────┴────────────┘
 *			      registry: check, number, publish
 *				   │                │
 *			       code map        page writer
 *
 * A registry is an address space's; the process's own is own_registry().
 * All calls are thread-safe and none may be made from a signal handler.
 */
#ifndef BOBBIN_CODEMAP_REGISTRY_H
#define BOBBIN_CODEMAP_REGISTRY_H

#include <bobbin/code_page.h>
#include <bobbin/codectl.h>

#include "codemap/code_map.h"
#include "codemap/registration.h"

struct registry;

/* Which registration; zero: any. */
struct code_match {
	uint64_t key;
	unsigned int kinds; /* 1 << enum code_kind */
	uint64_t table;
	struct code_text_range text; /* one of them */
	bool added;                  /* by registry_add_section(); false: not by that */
};

/* A kernel_call of linux_calls.h; NULL: no kernel has registrations, too. */
int registry_open(long (*kernel)(long number, unsigned int option, const void *info, size_t size),
		  struct registry **ret);
void registry_close(struct registry *registry);

struct code_map *registry_map(struct registry *registry);

/* Writers of the map itself (loaded objects) hold this. */
void registry_lock(struct registry *registry);
void registry_unlock(struct registry *registry);

/* Whether nobody has the lock now, not even this thread. */
bool registry_is_free(struct registry *registry);

/* For checks, under the lock. */
struct own_mappings *registry_mappings(struct registry *registry);

/* The page; NULL: this system allows none that could be found.  For tests. */
const struct bobbin_code_page *registry_page(const struct registry *registry);

/*
 * Register what was checked; all ranges or none.  The lock is held.  -EEXIST: the
 * key or a part of the text is registered; -ENOMEM; -ENOSPC: the page is full.  On
 * failure @owned is still the caller's.
 */
int registry_insert(struct registry *registry, const struct code_request *request,
		    enum bobbin_code_place *ret);

/* Unregister, and wait for readers.  -ENOENT. */
int registry_unregister(struct registry *registry, const struct code_match *match);

/*
 * Register an SFrame section that is the library's own memory for text that need
 * not be checked; @free_section is called with @section when it is no longer read.
 * @key: what registry_remove() takes.  Errors as sframe_register().
 */
int registry_add_section(struct registry *registry, uint64_t key, void *section, size_t size,
			 const struct code_text_range *ranges, size_t count,
			 void (*free_section)(void *));

/* Unregister what registry_add_section() has added for @key, and wait for readers; -ENOENT. */
int registry_remove(struct registry *registry, uint64_t key);

/* A walk found the table malformed: drop it, publish why.  Async-signal-safe. */
void registry_drop(struct registry *registry, struct code *code, const struct bobbin_error *error);

/* In a forked child; the lock is free afterwards, whoever had it. */
void registry_forked(struct registry *registry);

/* The calls of <bobbin/codectl.h> for any registry. */
int code_calls_codectl(struct registry *registry, unsigned int option, const void *info,
		       size_t info_size, unsigned int flags, struct bobbin_code_result *ret);
int code_calls_register(struct registry *registry, const struct sframe_setup *setup, size_t size,
			struct bobbin_code_result *ret);
int code_calls_unregister(struct registry *registry, const struct sframe_setup *setup, size_t size);
int code_calls_prctl(struct registry *registry, int option, unsigned long arg2, unsigned long arg3,
		     unsigned long arg4, unsigned long arg5);

#endif
