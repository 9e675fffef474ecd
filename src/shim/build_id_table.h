/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * build_id_table.h - the compiled table of a loaded object, by its build ID.
 *
 *	FOLDER/NN/NNNN….table	NN: first byte of the build ID in hexadecimal, NNNN…: the others
 *
 * The folders are those of BOBBIN_TABLE_PATH, which colons separate.  Without it they are the user's,
 * ~/.cache/bobbin/build-id, and that of the system, /usr/lib/bobbin/tables.  Nothing is written there.
 */
#ifndef BOBBIN_SHIM_BUILD_ID_TABLE_H
#define BOBBIN_SHIM_BUILD_ID_TABLE_H

#include <link.h>
#include <stdint.h>

#define BUILD_ID_TABLE_FOLDER "/usr/lib/bobbin/tables"

struct build_id {
	const uint8_t *bytes;
	uint32_t size;
};

/* The build ID in the notes of an object that is mapped; of size 0: it has none, or a longer one. */
struct build_id build_id_of(const ElfW(Phdr) * phdrs, int count, uint64_t bias);

/* A descriptor of the first regular file that is there, and its size; or a negative errno. */
int build_id_table_open(const struct build_id *id, uint64_t *size);

#endif
