/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mapped_file.h - the identity of what is mapped, one object for each file.
 *
 * Two mappings are of the same file if their build IDs say so, or, without
 * build IDs, their device, inode, its generation and path.  What a build ID says of a file
 * at another path holds for the part that was mapped first: bundles begin with the same
 * program and have other libraries behind it.  Without one the images in memory
 * must be the same, too.  Processes come and go,
 * files stay: what is worked out about a file is kept by its number.
 */
#ifndef BOBBIN_TARGET_MAPPED_FILE_H
#define BOBBIN_TARGET_MAPPED_FILE_H

#include <bobbin/address_space.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_index.h"
#include "base/process_reader.h"

/*
 * The roots of the processes that have a file, in the order of a search.
 *
 * Containers share files, but one of them may have the debug file, and another may have ended.
 * Our own root comes first: what is in others may be forged.  These come as they were met.
 */

/* Further ones are not searched. */
#define FILE_ROOTS_MAX 8

/* What paths in our own root begin with. */
#define OWN_ROOT ""

/* Paths, borrowed; NULL behind the last one. */
struct file_roots {
	const char *list[FILE_ROOTS_MAX];
};

/* Add one, if it is not there and there is room; there always is for our own. */
void file_roots_add(struct file_roots *roots, const char *root);

unsigned int file_roots_count(const struct file_roots *roots);

/*
 * The roots of processes, kept if they are others than ours.
 *
 * What belongs to a mapped file, such as its debug file, is in the root of the process, which
 * may be gone when that is looked for.  So a descriptor of the root is kept.
 */

/* Further ones are not kept. */
#define PROCESS_ROOTS_MAX 1024

struct process_root {
	uint64_t device, inode;
	int fd;
	char *path; /* that leads to it, also where another process of ours opens it */
};

struct process_roots {
	struct process_root *list;
	size_t count, room;
};

/* A path of the process's root, as long as @roots: OWN_ROOT if it is ours; NULL: it is not known. */
const char *process_roots_find(struct process_roots *roots, const struct remote_process *process);

enum file_kind {
	FILE_NONE,     /* anonymous memory, or a device */
	FILE_REGULAR,  /* something with a path */
	FILE_VDSO,     /* the kernel's code, see getauxval(AT_SYSINFO_EHDR) */
	FILE_VSYSCALL, /* x86-64's legacy page */
};

struct mapped_file {
	uint32_t number; /* 0.. in order of appearance */
	enum file_kind kind;
	char *path;
	uint8_t build_id[20];
	uint8_t build_id_len;
	uint32_t major, minor;
	uint64_t ino, generation; /* the latter 0: unknown */
	uint64_t offset;          /* from which on it was mapped first */
	/* of a recording, see file_table_since(): when it was mapped first; 0: not known */
	bool recorded, here;
	uint64_t since;
	/* a mapping of it in a process, to open it while that process lives */
	int pid;
	uint64_t start, end;
	struct file_roots roots; /* of such processes, as far as they were looked for */
	/* what a process had of it in its memory, see bobbin_space_map_image(); owned, or NULL */
	void *image;
	size_t image_size;
	/* its descriptor of GDB's JIT interface, once somebody asked; see gdb_jit.c */
	struct {
		bool looked, has;
		int tried_pid;   /* through which it could not be opened */
		uint64_t symbol; /* address in the file's own space */
		/* the mapping that was looked at, and from its start to the descriptor */
		bool placed;
		uint64_t offset, distance;
	} jit;
};

struct file_table {
	struct mapped_file **files;
	uint32_t count;
	size_t room;
	struct hash_index index; /* by identity */
	uint64_t seed;
	struct process_roots roots; /* of all */
	bool recorded, here;
	uint64_t since;
};

/*
 * Files that appear from now on are those of a recording, and were mapped at this time, in
 * nanoseconds of the time of day; 0: nobody knows when.  Without a build ID nothing else tells
 * whether what is at a path is still what was mapped.  @here: on this machine, so that inodes
 * mean something.
 */
void file_table_since(struct file_table *table, uint64_t since, bool here);

void file_table_fini(struct file_table *table);

/* What a process has of a file in its memory, from the file's first byte on. */
struct file_image {
	const void *bytes;
	size_t size;
};

/*
 * The file of a mapping, known or new; it lives as long as the table.  @image: what there is of
 * it, which is copied, or NULL.  0, -EINVAL, -ENOMEM.
 */
int file_table_find(struct file_table *table, const struct bobbin_mapping *mapping,
		    const struct file_image *image, struct mapped_file **ret);

#endif
