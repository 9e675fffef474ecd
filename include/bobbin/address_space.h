/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * address_space.h - what is mapped in a process, and the code that it has registered.
 *
 * A space belongs to one thread at a time, with the unwinder (<bobbin/unwind.h>) that it was
 * opened for.
 */
#ifndef BOBBIN_ADDRESS_SPACE_H
#define BOBBIN_ADDRESS_SPACE_H

#include <bobbin/arch.h>
#include <bobbin/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bobbin_space;
struct bobbin_unwinder;

/**
 * struct bobbin_mapping - executable memory of a process
 * @start, @end: addresses
 * @offset: file offset of @start
 * @path: as in /proc/PID/maps; "" or "//anon" for memory without a file
 * @build_id, @build_id_len: the file's, or 0 bytes
 * @major, @minor, @ino: identity of the file, or 0
 * @generation: of its inode, which tells it from an earlier file with the same number; or 0
 * @pid: process through which the file can be opened while it lives, or 0
 */
struct bobbin_mapping {
	uint64_t start, end, offset;
	const char *path;
	uint8_t build_id[20];
	uint8_t build_id_len;
	uint32_t major, minor;
	uint64_t ino, generation;
	int pid;
};

/**
 * bobbin_space_open() - an address space in which nothing is mapped
 * @unwinder: knows the files
 * @arch: of the process
 * @ret: the space; untouched on failure
 *
 * Return: 0 or -ENOMEM.
 */
int bobbin_space_open(struct bobbin_unwinder *unwinder, const struct bobbin_arch *arch,
		      struct bobbin_space **ret);

/**
 * bobbin_space_close() - give a space back
 * @space: NULL is fine
 */
void bobbin_space_close(struct bobbin_space *space);

/**
 * bobbin_space_map() - something was mapped, over what was there
 * @space: the space
 * @mapping: what and where; copied
 *
 * Return: 0, -EINVAL for an empty or wrapped range, -ENOMEM.
 */
int bobbin_space_map(struct bobbin_space *space, const struct bobbin_mapping *mapping);

/**
 * bobbin_space_map_image() - something was mapped, of which the process has bytes in its memory
 * @space: the space
 * @mapping: what and where, as for bobbin_space_map(); copied
 * @image: the file's bytes from its first one on, at their offsets in the file; copied
 * @size: of @image; 0 is fine
 *
 * For code that is in no file, such as the vDSO ("[vdso]") of another machine, and for core
 * files.  Where the file of a path can be opened, it is used: if it has the build ID of @mapping,
 * or, without one, begins with @image.  Otherwise @image is, whose tables are found by its
 * segments, and side-files by its build ID.  Of an image without bytes no file is the same.
 *
 * Return: as bobbin_space_map().
 */
int bobbin_space_map_image(struct bobbin_space *space, const struct bobbin_mapping *mapping,
			   const void *image, size_t size);

/**
 * bobbin_space_unmap() - nothing is mapped in a range any more
 * @space: the space
 * @start, @end: the range
 *
 * Return: 0 or -ENOMEM (a mapping had to be split).
 */
int bobbin_space_unmap(struct bobbin_space *space, uint64_t start, uint64_t end);

/**
 * bobbin_space_clear() - the process called exec
 * @space: the space
 */
void bobbin_space_clear(struct bobbin_space *space);

/**
 * bobbin_space_fork() - a copy
 * @space: the parent's
 * @ret: the child's; untouched on failure
 *
 * Return: 0 or -ENOMEM.
 */
int bobbin_space_fork(const struct bobbin_space *space, struct bobbin_space **ret);

/**
 * bobbin_space_load() - what is mapped now, from /proc/PID/maps
 * @space: the space; emptied first
 * @pid: a process
 *
 * Return: 0 or the errno of reading the file.
 */
int bobbin_space_load(struct bobbin_space *space, int pid);

/**
 * bobbin_space_update_code() - learn what code a process has registered, or tells of
 * @unwinder: knows the files
 * @space: what is mapped; of this unwinder
 * @pid: the process, alive; itself or another
 *
 * Reads the page that the process publishes (<bobbin/code_page.h>) if it has
 * changed, and copies the sections that are new; not more than 256 MiB of them,
 * and 512 MiB of everything for all spaces of the unwinder; the rest is left out.
 * Where nothing has changed it is a system call.  Where there is no page it is a
 * search in /proc/PID/maps, each time: do not ask too often.
 *
 * In processes that have executable memory without a file it reads the images of GDB's
 * JIT interface (__jit_debug_descriptor), too, if something has changed there: their code
 * is unwound by their .sframe and .eh_frame, of which 16 MiB are copied at most.  Files and
 * what is registered count more.  To find that out symbol tables are read, of each file
 * once.
 *
 * Such code stays known until the next update or bobbin_space_clear(), which
 * bobbin_space_load() implies; bobbin_space_fork() hands it on.  Tables of JIT
 * compilers are read in the process when a walk needs them.  Nothing that the process
 * says is trusted: a malformed table is dropped, once.
 *
 * Return: 1: something was new; 0: nothing; -ENOENT: the process has no page and
 * tells debuggers nothing; -EBADMSG: its page makes no sense; -EPERM; -ESRCH; -ENOMEM;
 * -ETIMEDOUT.  What was known stays.
 */
int bobbin_space_update_code(struct bobbin_unwinder *unwinder, struct bobbin_space *space, int pid);

/**
 * struct bobbin_place_info - what an address is, for symbolisation
 * @mapping: what is mapped there; its @path lives as long as the mapping.  Memory
 *	without a file in which the process registered an image: the image, as if
 *	its file was mapped as a whole; @path lives until the next update
 * @file_offset: offset of the address in the file
 * @image, @image_size: the file's bytes if it is an image in memory (vDSO)
 */
struct bobbin_place_info {
	struct bobbin_mapping mapping;
	uint64_t file_offset;
	const void *image;
	size_t image_size;
};

/**
 * bobbin_space_find() - what is mapped at an address
 * @space: the space
 * @addr: the address
 * @ret: the answer; untouched if there is none
 *
 * Return: 0 or -ENOENT.
 */
int bobbin_space_find(const struct bobbin_space *space, uint64_t addr,
		      struct bobbin_place_info *ret);

#ifdef __cplusplus
}
#endif

#endif
