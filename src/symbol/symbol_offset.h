/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symbol_offset.h - where a function is in its file, for probes.
 */
#ifndef BOBBIN_SYMBOL_SYMBOL_OFFSET_H
#define BOBBIN_SYMBOL_SYMBOL_OFFSET_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct symbol_place - a function of the name
 * @address: as the file has it
 * @offset: of its first byte in the file
 * @source: the source file of a static one, or NULL; from malloc()
 */
struct symbol_place {
	uint64_t address, offset;
	char *source;
};

/* Zero to begin. */
struct symbol_places {
	struct symbol_place *list;
	size_t count, room;
};

/*
 * The functions of a name in the file @path: static ones may have the same.  @name is as symbol tables
 * have it, of a library's with the version that programs are linked to now; NAME@VERSION, and
 * NAME@@VERSION for that one, tell another.  @debug_path: folders with debug files, whose symbols
 * count where the file has none of the name.  0 and one at least; -ENOEXEC: it is no ELF file;
 * -ENODATA: it has no such function; -ENOTSUP: it is an indirect one (STT_GNU_IFUNC), whose address is
 * that of code which chooses a function; or another errno.  symbol_places_fini() in any case.
 */
int symbol_offset_find(const char *path, const char *debug_path, const char *name,
		       struct symbol_places *ret);

/*
 * Whether a byte of the file @path is executed where the file is loaded: 0; -ERANGE: it is not; or
 * an error as above.
 */
int symbol_offset_check(const char *path, uint64_t offset);

void symbol_places_fini(struct symbol_places *places);

#endif
