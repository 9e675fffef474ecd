/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * core_contents.h - what a core file tells of its process: memory, mappings, threads, and why it ended.
 */
#ifndef BOBBIN_ELF_CORE_CONTENTS_H
#define BOBBIN_ELF_CORE_CONTENTS_H

#include <bobbin/arch.h>
#include <stddef.h>
#include <stdint.h>

#include "base/name_pool.h"

/* A range of the process's memory; @dumped bytes from its start on are at @offset in the core. */
struct core_memory {
	uint64_t start, size, dumped, offset;
	bool exec;
};

/* A range that a file backs, from @offset of it on; @path lives as long as the core. */
struct core_mapping {
	uint64_t start, end, offset;
	const char *path;
};

/* A thread; gpr[N] is valid if bit N of @known is set. */
struct core_thread {
	int tid;
	uint32_t known;
	uint64_t pc, gpr[BOBBIN_REG_COUNT];
};

/**
 * struct core_signal - what ended the process
 * @number: 0: the core does not tell
 * @code: si_code
 * @address: of the fault, if the kernel found one, which @code tells
 * @sender, @user: of the process that sent it, if one did
 */
struct core_signal {
	int number, code;
	uint64_t address;
	int sender;
	uint32_t user;
};

/* What the kernel has told the program, by AT_… of elf.h; 0: nothing. */
struct core_auxv {
	uint64_t headers, header_count, entry, vdso, path;
};

/* Bytes of NT_PRPSINFO's strings. */
#define CORE_NAME_SIZE 17
#define CORE_ARGUMENTS_SIZE 81

/**
 * struct core_file - a core file
 * @fd: of the caller, who keeps it open
 * @arch: of the process
 * @memory: ascending by address
 * @mappings: ascending by address
 * @threads: in the file's order; Linux writes the one first that the signal was for
 * @pid: 0: the core does not tell
 * @name, @arguments: of the program, as far as the kernel keeps them
 * @missing: bytes of memory that the core says it has, behind its end
 * @paths: of the mappings
 */
struct core_file {
	int fd;
	const struct bobbin_arch *arch;
	struct core_memory *memory;
	size_t memory_count, memory_room;
	struct core_mapping *mappings;
	size_t mapping_count, mapping_room;
	struct core_thread *threads;
	size_t thread_count, thread_room;
	int pid;
	char name[CORE_NAME_SIZE], arguments[CORE_ARGUMENTS_SIZE];
	struct core_signal signal;
	struct core_auxv auxv;
	uint64_t missing;
	struct name_pool paths;
};

/* The memory that holds an address, or NULL. */
const struct core_memory *core_file_memory(const struct core_file *core, uint64_t addr);

/* Bytes from an address on that the core has, and where; 0: none, and @offset is unchanged. */
uint64_t core_file_dumped(const struct core_file *core, uint64_t addr, uint64_t *offset);

/* The mapping that holds an address, or NULL. */
const struct core_mapping *core_file_mapping(const struct core_file *core, uint64_t addr);

/* Add a mapping; its path is copied.  0, -ENOMEM, -E2BIG. */
int core_file_map(struct core_file *core, uint64_t start, uint64_t end, uint64_t offset,
		  const char *path);

/* After some were added. */
void core_file_sort_mappings(struct core_file *core);

#endif
