/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * loaded_objects.h - the loaded ELF objects of the own process in a code map.
 *
 * What is registered goes first: an object's ranges fill the rest of its text.
 */
#ifndef BOBBIN_UNWIND_LOADED_OBJECTS_H
#define BOBBIN_UNWIND_LOADED_OBJECTS_H

#include "codemap/registry.h"
#include "unwind/loaded_object.h"

/* Zero: nothing is in the map.  The list is read and changed under the registry's lock. */
struct loaded_objects {
	struct loaded_object *first;
};

/*
 * Add what was loaded and remove what was unloaded since.  1: something has
 * changed; 0; -ENOMEM.  One thread at a time, which holds none of the registry's
 * and the loader's locks.
 */
int loaded_objects_sync(struct loaded_objects *objects, struct registry *registry);

#endif
