/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * loaded_object.h - a loaded ELF object in the code map: CODE_OBJECT.
 *
 * Its tables are copies, so that unloading it takes nothing from under a walk.
 */
#ifndef BOBBIN_UNWIND_LOADED_OBJECT_H
#define BOBBIN_UNWIND_LOADED_OBJECT_H

#include <bobbin/unwind.h>

#include "codemap/code_map.h"
#include "target/mapping_list.h"
#include "unwind/loaded_image.h"
#include "unwind/loader_link.h"
#include "unwind/module.h"
#include "unwind/self_memory.h"

struct loaded_object {
	struct code code; /* .object is this */
	struct loaded_image image;
	struct module *module;   /* NULL: its file cannot be read */
	struct loader_link link; /* all NULL: the loader says nothing */
	struct loaded_object *next;
	struct loaded_object **list; /* of which it is part, or NULL */
};

/*
 * Open what an image has, which becomes the object's; @maps: the own mappings.
 * -ESTALE: something else is there by now; -ENOMEM.  The image is still the caller's
 * then.  loaded_object_close() gives the object back.
 */
int loaded_object_open(struct loaded_image *image, struct mapping_list *maps,
		       struct loaded_object **ret);
void loaded_object_close(struct loaded_object *object);

/* Take it out of its list. */
void loaded_object_unlink(struct loaded_object *object);

/* Whether the loader says of it what it said when it was opened.  Async-signal-safe. */
bool loaded_object_linked(const struct loaded_object *object);

/*
 * Whether the object is still what is loaded there; @memory: to read it.
 * Async-signal-safe.
 */
bool loaded_object_present(const struct loaded_object *object, struct self_memory *memory);

/* The object that a code of the map is, or NULL. */
static inline const struct loaded_object *loaded_object_of(const struct code *code)
{
	return code->kind == CODE_OBJECT ? code->object : NULL;
}

#endif
