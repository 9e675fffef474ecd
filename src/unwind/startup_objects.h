/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * startup_objects.h - which of the loaded objects stay as long as the program.
 *
 * These are the program and what it is linked with, the dynamic loader, and what was preloaded: that
 * stands between the program and the first object that it is linked with, while what is loaded later
 * stands at the end of the loader's list.
 */
#ifndef BOBBIN_UNWIND_STARTUP_OBJECTS_H
#define BOBBIN_UNWIND_STARTUP_OBJECTS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct startup_object - an object of the loader's list
 * @name: as the loader says
 * @soname: or NULL
 * @dynamic: its dynamic section, or NULL; read only if it stays
 * @bias: addresses are this much more than the file says
 * @base: address of the first segment
 * @stays: in: known to stay; out: stays
 */
struct startup_object {
	const char *name, *soname;
	const ElfW(Dyn) * dynamic;
	uint64_t bias, base;
	bool stays;
};

/* The name that a dynamic section gives its object, or NULL. */
const char *dynamic_soname(const ElfW(Dyn) * dynamic, uint64_t bias, uint64_t base);

/* @list: all that is loaded, in the loader's order; @loader: base of the dynamic loader, or 0. */
void startup_objects_mark(struct startup_object *list, size_t count, uint64_t loader);

#endif
