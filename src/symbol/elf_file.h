/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * elf_file.h - find and open the ELF files that belong to a mapped file.
 *
 * Paths may lead anywhere and files may change: only regular files are opened,
 * without waiting, and only those that prove to be the right ones are used, by
 * build ID or, for a debug link, by checksum.  libelf reads them with pread, so
 * that a file that is cut short cannot fault.
 *
 * libdwfl would search, too, but it maps all files, waits for FIFOs, and
 * unpacks .gnu_debugdata of any size.
 */
#ifndef BOBBIN_SYMBOL_ELF_FILE_H
#define BOBBIN_SYMBOL_ELF_FILE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/mapped_file.h"

#define BUILD_ID_MAX 64

struct build_id {
	uint8_t bytes[BUILD_ID_MAX];
	size_t len; /* 0: unknown */
};

/* Who opens files for reading.  Both return a descriptor or a negative errno. */
struct file_opener {
	int (*open)(void *ctx, const char *path);
	int (*fetch)(void *ctx, const struct build_id *id); /* a debug file, from a server */
	void *ctx;
};

/* Where to look: borrowed, NULL if there is none; and by whom. */
struct search_paths {
	const char *debug_path, *symfs;
	const struct file_roots *roots; /* of processes, before our own */
	const char *inside; /* the file's path in these, if it has another one in ours */
	struct file_opener opener;
};

struct elf_file {
	Elf *elf;
	int fd;     /* -1: in memory, or closed */
	char *path; /* NULL: in memory */
};

#define ELF_FILE_CLOSED \
	{ \
		.fd = -1 \
	}

/*
 * The mapped file: @open_path, or @path below symfs.
 * Returns 0, -ENOENT, -ESTALE if only other builds were found, -ETIMEDOUT, or a shortage.
 */
int elf_file_find_main(const struct search_paths *paths, const char *open_path, const char *path,
		       const struct build_id *id, struct elf_file *ret);

/*
 * The separate debug file of @main, or of a build ID if that is not open: by
 * build ID in the debug path, by debug link, from a server.  Files are those of the
 * roots of processes, else our own.
 * Returns 0, -ENOENT, -ETIMEDOUT, or a shortage.
 */
int elf_file_find_debug(const struct search_paths *paths, const struct elf_file *main,
			const struct build_id *id, struct elf_file *ret);

/*
 * The file @name with build ID @id that dwz(1) moved parts of @debug to.
 * Returns 0, -ENOENT, -ETIMEDOUT, or a shortage.
 */
int elf_file_find_supplement(const struct search_paths *paths, const struct elf_file *debug,
			     const char *name, const struct build_id *id, struct elf_file *ret);

/* An image in memory, borrowed.  Returns 0, -EINVAL. */
int elf_file_open_image(void *image, size_t size, struct elf_file *ret);

/* The open file again, apart from its sections that were read.  Returns 0, -ENOENT. */
int elf_file_reopen(struct elf_file *file, Elf_Cmd command);

void elf_file_close(struct elf_file *file);

/* @ret->len is 0 if the file has none. */
void elf_file_build_id(Elf *elf, struct build_id *ret);

/* The section with this name, or NULL. */
Elf_Scn *elf_file_section(Elf *elf, const char *name);

/* What a section holds, or NULL if that is nothing, packed or more than @limit bytes. */
Elf_Data *elf_file_data(Elf_Scn *section, size_t limit);

/* Likewise the names of a symbol table, and in *@ret the table; NULL if one of them is missing. */
Elf_Data *elf_file_symbols(Elf *elf, Elf_Scn *section, size_t limit, Elf_Data **ret);

#endif
