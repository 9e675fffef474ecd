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

int registrar_open(struct registrar **ret);
void registrar_close(struct registrar *registrar);

struct code_map *registrar_map(struct registrar *registrar);

/* Writers of the map itself (loaded objects) hold this. */
void registrar_lock(struct registrar *registrar);
void registrar_unlock(struct registrar *registrar);

/*
 * Register an SFrame section that is the library's own memory for text that need
 * not be checked; @free_section is called with @section when it is no longer read.
 * @key: what registrar_remove() takes.  Errors as sframe_register().
 */
int registrar_add_section(struct registrar *registrar, uint64_t key, void *section, size_t size,
			  const struct code_text_range *ranges, size_t count,
			  const struct code_identity *identity, void (*free_section)(void *));

/* Unregister what @key was registered for, and wait for readers; -ENOENT. */
int registrar_remove(struct registrar *registrar, uint64_t key);

/* A walk found the table malformed: drop it, publish why.  Async-signal-safe. */
void registrar_drop(struct registrar *registrar, struct code *code,
		    const struct bobbin_error *error);

/* In a forked child. */
void registrar_forked(struct registrar *registrar);

#endif
