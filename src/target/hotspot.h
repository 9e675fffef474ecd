/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hotspot.h - the code of a Java virtual machine, as HotSpot describes it to debuggers.
 *
 *	gHotSpotVMStructs ─► offsets of fields ─► heaps of code ─► blobs ─► methods' names
 *
 * libjvm.so exports tables of its own structures (src/hotspot/share/runtime/vmStructs.cpp) for
 * the serviceability agent.  Fields are found by their names, so versions need not be told
 * apart.  All of it is only what the process says: numbers, sizes and lengths are bounded.
 */
#ifndef BOBBIN_TARGET_HOTSPOT_H
#define BOBBIN_TARGET_HOTSPOT_H

#include <stdbool.h>

#include "base/process_reader.h"
#include "target/mapping_list.h"

#define HOTSPOT_HEAPS 8

enum hotspot_field_number {
	HOTSPOT_HEAPS_ARRAY, /* static */
	HOTSPOT_INTERPRETER, /* static */
	HOTSPOT_ARRAY_LENGTH,
	HOTSPOT_ARRAY_DATA,
	HOTSPOT_HEAP_MEMORY,
	HOTSPOT_HEAP_MAP,
	HOTSPOT_HEAP_SHIFT,
	HOTSPOT_SPACE_LOW,
	HOTSPOT_SPACE_HIGH,
	HOTSPOT_SPACE_END, /* of what is reserved */
	HOTSPOT_BLOCK_LENGTH,
	HOTSPOT_BLOCK_USED,
	HOTSPOT_BLOB_NAME,
	HOTSPOT_BLOB_SIZE,
	HOTSPOT_BLOB_COMPLETE,
	HOTSPOT_BLOB_FRAME,
	HOTSPOT_CODE_BEGIN, /* an address, until JDK 22 */
	HOTSPOT_CODE_END,
	HOTSPOT_CODE_OFFSET, /* offsets, since */
	HOTSPOT_DATA_OFFSET,
	HOTSPOT_METHOD,
	HOTSPOT_METHOD_ID,
	HOTSPOT_METHOD_ENTRY,
	HOTSPOT_METHOD_SECOND, /* entry on the stack's replacement */
	HOTSPOT_METHOD_ENTRY_OFFSET,
	HOTSPOT_METHOD_STUBS,
	HOTSPOT_METHOD_HANDLERS,
	HOTSPOT_METHOD_CONST,
	HOTSPOT_CONST_POOL,
	HOTSPOT_CONST_NAME,
	HOTSPOT_POOL_HOLDER,
	HOTSPOT_CLASS_NAME,
	HOTSPOT_SYMBOL_LENGTH,
	HOTSPOT_SYMBOL_BODY,
	HOTSPOT_QUEUE_BUFFER,
	HOTSPOT_QUEUE_END,
	HOTSPOT_CODELET_SIZE,
	HOTSPOT_CODELET_TEXT,
	HOTSPOT_FIELDS
};

/* A field of a structure: its offset, or the address of a static one; @size 0: there is none. */
struct hotspot_field {
	uint64_t at;
	uint8_t size;
	bool is_signed;
};

/* A heap of code: what is reserved, and the map of its segments. */
struct hotspot_heap {
	uint64_t start, end;
	uint64_t map, map_size;
	unsigned int shift; /* log2 of a segment's bytes */
};

struct hotspot {
	struct remote_process process;
	struct hotspot_field fields[HOTSPOT_FIELDS];
	uint64_t block_size, pool_size, codelet_size; /* of structures */
	struct hotspot_heap heaps[HOTSPOT_HEAPS];
	size_t heap_count;
};

enum hotspot_kind {
	HOTSPOT_COMPILED,
	HOTSPOT_NATIVE, /* a wrapper around a native method */
	HOTSPOT_ROUTINES,
	HOTSPOT_THUNKS,    /* of virtual calls: they load a target and jump there */
	HOTSPOT_TEMPLATES, /* the interpreter */
	HOTSPOT_ADAPTERS,
	HOTSPOT_ROUTINE, /* another blob with a frame */
};

/**
 * struct hotspot_blob - a piece of code
 * @at: address of its description
 * @code, @end: its code
 * @name: of the blob, an address
 * @method: of a compiled one, an address
 * @id: number of the compilation
 * @frame: bytes of its frame with the return address; 0: none
 * @complete: offset in the code from which on that is there; -1: not told
 * @entry, @second, @stubs, @handlers: offsets in the code; -1: not told
 * @kind: enum hotspot_kind
 */
struct hotspot_blob {
	uint64_t at;
	uint64_t code, end;
	uint64_t name, method;
	int64_t id;
	int64_t frame, complete;
	int64_t entry, second, stubs, handlers;
	uint8_t kind;
};

/*
 * The structures of the machine that is mapped, and its heaps.  0; -ENOENT: there is none;
 * -ENOTSUP: it describes not enough; -ENOMEM; or the errno of reading memory.
 */
int hotspot_open(const struct remote_process *process, const struct mapping_list *maps,
		 struct hotspot *ret);

/* Whether there are other heaps than before, which are read then: 1, 0, or an errno as above. */
int hotspot_update(struct hotspot *vm);

/* The heap that holds an address, or NULL. */
const struct hotspot_heap *hotspot_heap(const struct hotspot *vm, uint64_t addr);

/* The blob at an address.  0; -ENOENT: there is none; or the errno of reading memory. */
int hotspot_find(const struct hotspot *vm, uint64_t addr, struct hotspot_blob *ret);

/* Bytes of a description, from its address on, that tell two blobs at one place apart. */
#define HOTSPOT_DESCRIPTION 512

/*
 * The description at an address.  It may be shorter, and the last one before memory that cannot be
 * read; zero bytes take the place of that.  0, or the errno of reading memory.
 */
int hotspot_read_description(const struct hotspot *vm, uint64_t at,
			     uint8_t ret[HOTSPOT_DESCRIPTION]);

/* What is at @blob->at now; false: it is another one than @blob. */
bool hotspot_is_same(const struct hotspot *vm, const struct hotspot_blob *blob,
		     const uint8_t description[HOTSPOT_DESCRIPTION]);

#define HOTSPOT_NAME_MAX 512

/* "class.method" of a compiled method, or the blob's own name.  0, or the errno of reading memory. */
int hotspot_blob_name(const struct hotspot *vm, const struct hotspot_blob *blob,
		      char ret[HOTSPOT_NAME_MAX]);

/* A template of the interpreter: its code, and whether it is a method's entry. */
struct hotspot_codelet {
	uint64_t start, code,
		end; /* @start: of its head, which ends where @code begins at the latest */
	bool is_entry;
};

/* The one at an address.  0; -ENOENT; -ENOMEM; or the errno of reading memory. */
int hotspot_codelet_at(const struct hotspot *vm, uint64_t addr, struct hotspot_codelet *ret);

#endif
