/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "shim/build_id_table.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/build_id_path.h"
#include "base/path_list.h"
#include "base/regular_file.h"
#include "core/deps.h"
#include "elf/elf_notes.h"

struct build_id build_id_of(const ElfW(Phdr) * phdrs, int count, uint64_t bias)
{
	for (int i = 0; i < count; i++) {
		const uint8_t *notes = (const uint8_t *)(uintptr_t)(bias + phdrs[i].p_vaddr);
		uint64_t offset;
		uint8_t size;

		/* others have other alignment, and no build ID; one of a byte has no path */
		if (phdrs[i].p_type == PT_NOTE && phdrs[i].p_align <= 4 &&
		    elf_find_build_id(notes, phdrs[i].p_memsz, BOBBIN_HOST_BIG_ENDIAN, &offset,
				      &size) &&
		    size >= 2)
			return (struct build_id){notes + offset, size};
	}
	return (struct build_id){0};
}

static int open_file(const char *path, uint64_t *size)
{
	struct stat st;
	int fd = regular_file_open(path, 0, &st);

	if (fd < 0)
		return fd;
	if (!st.st_size) {
		close(fd);
		return -ENOENT;
	}
	*size = (uint64_t)st.st_size;
	return fd;
}

/* @folders: several, with colons between them. */
static int open_in(const char *folders, const char *name, uint64_t *size)
{
	char path[PATH_MAX];
	const char *folder;
	int fd = -ENOENT;
	size_t length;

	while (fd < 0 && (folder = path_list_next(&folders, &length)))
		if (snprintf(path, sizeof(path), "%.*s/%s", (int)length, folder, name) <
		    (int)sizeof(path))
			fd = open_file(path, size);
	return fd;
}

int build_id_table_open(const struct build_id *id, uint64_t *size)
{
	const char *folders = secure_getenv("BOBBIN_TABLE_PATH"), *home = secure_getenv("HOME");
	char name[BUILD_ID_PATH_SIZE(ELF_BUILD_ID_MAX) + sizeof(".table")], path[PATH_MAX];

	strcpy(build_id_path(id->bytes, id->size, name), ".table");
	if (folders)
		return open_in(folders, name, size);
	if (home &&
	    snprintf(path, sizeof(path), "%s/.cache/bobbin/build-id", home) < (int)sizeof(path)) {
		int fd = open_in(path, name, size);

		if (fd >= 0)
			return fd;
	}
	return open_in(BUILD_ID_TABLE_FOLDER, name, size);
}
