/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * loaded_object.h - a loaded ELF object in the code map: CODE_OBJECT.
 *
 * Its tables are copies, so that unloading it takes nothing from under a walk.
 */
#ifndef BOBBIN_UNWIND_LOADED_OBJECT_H
#define BOBBIN_UNWIND_LOADED_OBJECT_H

#include <bobbin/types.h>
#include <bobbin/unwind.h>
#include <link.h>

#include "codemap/code_map.h"
#include "codemap/registry.h"
#include "target/mapping_list.h"
#include "unwind/loader_link.h"
#include "unwind/module.h"
#include "unwind/self_memory.h"

/*
 * What the dynamic loader has mapped into the own process.  An image is identified by its address,
 * its name and its proof, which is some bytes of it in memory: the build ID or, without one, the
 * ELF header.  They differ from those of a library that is mapped to the same address later.
 */
#define IMAGE_PROOF_MAX 40

struct image_text {
	uint64_t start, end;
};

struct loaded_image {
	uint64_t bias;           /* addresses are this much more than the file says */
	uint64_t base;           /* address of the first segment */
	char *name;              /* as the loader says; "": the program */
	char *soname;            /* or NULL */
	struct image_text *text; /* executable segments */
	size_t text_count;
	uint64_t proof; /* address of the bytes that it is known by; 0: there are none */
	uint8_t proof_bytes[IMAGE_PROOF_MAX], proof_len;
	bool has_build_id; /* it is the proof */
	bool stays;        /* never unloaded: the program and what it is linked with */
	const ElfW(Dyn) * dynamic;
};

struct image_list {
	struct loaded_image *images;
	size_t count, room;
};

/* What is loaded now.  -ENOMEM. */
int image_list_init(struct image_list *ret);
void image_list_fini(struct image_list *list);

void loaded_image_fini(struct loaded_image *image);

/* Whether two lists speak of the same image. */
bool loaded_image_same(const struct loaded_image *a, const struct loaded_image *b);

/*
 * The loaded ELF objects of the own process in a code map.
 *
 * What is registered goes first: an object's ranges fill the rest of its text.
 */

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
