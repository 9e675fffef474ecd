/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * loaded_programs.h - code that the kernel was given, programs of BPF, as records tell of it.
 *
 * It comes and goes: what is known is what is there at the time of the last record.
 */
#ifndef BOBBIN_SYMBOL_LOADED_PROGRAMS_H
#define BOBBIN_SYMBOL_LOADED_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/name_pool.h"

/* More are not known by name. */
#define LOADED_PROGRAMS_MAX 8192

struct loaded_program {
	uint64_t start;
	uint32_t size;
	const char *name;
};

/* By address; starts with loaded_programs_init(). */
struct loaded_programs {
	struct loaded_program *list;
	size_t count, room;
	struct name_pool names;
};

void loaded_programs_init(struct loaded_programs *programs);
void loaded_programs_fini(struct loaded_programs *programs);

/* It is there from now on, in place of what was; the name is copied.  0 or -ENOMEM. */
int loaded_programs_add(struct loaded_programs *programs, const struct loaded_program *program);

/* It has gone. */
void loaded_programs_remove(struct loaded_programs *programs, uint64_t start);

/* The program at an address, or NULL; until the next change. */
const struct loaded_program *loaded_programs_find(const struct loaded_programs *programs,
						  uint64_t address);

#endif
