/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * exec_lists.h - help the kernel to make lists of mappings itself.
 *
 * When a process calls execve(), the program in the kernel lists its mappings at once, and reports
 * the list.  There files are inodes.  The kernel's record of the same mapping, which is read later,
 * tells which file an inode is: the last record before the list, if the process has not called
 * execve() in between.
 */
#ifndef BOBBIN_BPFWALK_EXEC_LISTS_H
#define BOBBIN_BPFWALK_EXEC_LISTS_H

#include "bpfwalk/bpf_lists.h"
#include "bpfwalk/bpf_tables.h"

struct ring_buffer;

/* Mappings whose records were not read yet, at most; a power of two. */
#define EXEC_WAITING 1024

/**
 * struct waiting_mapping - a mapping of such a list, until its record is read
 * @time: of the list
 * @mapped: when the record of @mapping was made, the last one before the list; 0: there was none
 */
struct waiting_mapping {
	uint32_t pid;
	uint64_t start, end, time;
	struct kernel_inode inode;
	uint64_t mapped;
	struct mapping mapping;
};

/* Inodes that the kernel was told of a moment ago, at most; a power of two. */
#define EXEC_INODES 1024

struct known_inode {
	struct kernel_inode inode;
	uint32_t number; /* of the mapped file */
	uint64_t due;    /* when to look again, by CLOCK_MONOTONIC */
};

/**
 * struct exec_lists - what the kernel reports, and is told
 * @told: ring of lists; NULL: the kernel makes none
 * @inodes: the map
 * @waiting: by a hash of the process and the start; a new one overwrites another
 * @used, @used_count: places there that are not empty
 * @known: by a hash of the inode
 * @execs: when a process has called execve() last, by a hash of its number
 * @times: when the last list of a process was made, by a hash of its number
 */
struct exec_lists {
	struct ring_buffer *told;
	struct bpf_lists *lists;
	struct bpf_tables *tables;
	int inodes;
	struct waiting_mapping waiting[EXEC_WAITING];
	uint16_t used[EXEC_WAITING];
	uint32_t used_count;
	struct known_inode known[EXEC_INODES];
	uint64_t execs[EXEC_WAITING];
	uint64_t times[EXEC_WAITING];
};

/* @told, @inodes: the maps.  0 or a negative errno. */
int exec_lists_init(struct bpf_lists *lists, struct bpf_tables *tables, int told, int inodes,
		    struct exec_lists *ret);

/* One that is all zero is fine. */
void exec_lists_fini(struct exec_lists *exec);

/* Take in new lists, before the traces that name them. */
void exec_lists_collect(struct exec_lists *exec);

/* A record of a mapping was read, or of execve(); @time: of the record. */
void exec_lists_mapped(struct exec_lists *exec, int pid, uint64_t time,
		       const struct mapping *mapping);
void exec_lists_exec(struct exec_lists *exec, int pid, uint64_t time);

/* All records up to a time were read: the files of older lists are known. */
void exec_lists_read_until(struct exec_lists *exec, uint64_t time);

/*
 * When the kernel last made a list of a process, or of another one with the same hash; 0: never.
 */
uint64_t exec_lists_time(const struct exec_lists *exec, int pid);

#endif
