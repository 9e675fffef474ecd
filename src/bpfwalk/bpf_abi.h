/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_abi.h - what the recorder and its program in the kernel tell each other.
 *
 *	processes   process → its list of mappings      hash
 *	mappings    entries of all lists, ascending      array
 *	files       where the tables of files are        array
 *	pages       compiled tables, each from the start of a page on
 *
 * The recorder fills these maps; the program only reads them.  Lists that the program makes
 * itself, see bpf/mapping_lists.h, have their entries after the recorder's:
 *
 *	fresh       process → its list                   hash
 *	inodes      inode → file                         hash, filled by the recorder
 *
 * It gives out through rings:
 *
 *	samples     struct kernel_sample                 ring buffer
 *	told        struct fresh_list, each that it has made
 *	results     struct kernel_sample, of walks that have waited
 */
#ifndef BOBBIN_BPFWALK_BPF_ABI_H
#define BOBBIN_BPFWALK_BPF_ABI_H

#include "core/deps.h"
#include "golang/stack_switch.h"
#include "table/table_parts.h"

#define KERNEL_PROCESSES 16384
#define KERNEL_MAPPINGS 65536
/* Tables: places for them, a power of two; of these, and of pages, for registered code at most. */
#define KERNEL_FILES 8192
#define KERNEL_CODE_FILES 1024
#define KERNEL_CODE_PAGES 1024
/* Tables of one file, at most: of its sections, and all. */
#define KERNEL_SECTIONS 4
#define KERNEL_TABLES (KERNEL_SECTIONS + 1)
#define KERNEL_PAGE 4096
#define KERNEL_PAGES 7168
/* Lists that the program makes: places, entries of one, bytes to tell of them; inodes it knows. */
#define KERNEL_FRESH_LISTS 512
#define KERNEL_FRESH_MAPPINGS 64
#define KERNEL_FRESH_BYTES (1u << 20)
#define KERNEL_INODES 4096
/* Their numbers have this bit. */
#define KERNEL_FRESH (1ull << 63)

/* Instead of a file: memory without one, whose code has frame pointers or none; all others. */
#define KERNEL_NO_FILE UINT32_MAX
#define KERNEL_BARE (UINT32_MAX - 1)
/* The program's own: what is under registered code is asked. */
#define KERNEL_UNDER (UINT32_MAX - 2)
/* No table covers the code: its frame record tells, unless the code itself does. */
#define KERNEL_RECORD (UINT32_MAX - 3)

/*
 * The most frames of a stack that are given out: of one that has more, the inner ones and the outer
 * ones, of which the latter are a power of two.  And the most frames of a stack that are walked.
 */
#define KERNEL_FRAMES 1024
#define KERNEL_OUTER_FRAMES 256
#define KERNEL_INNER_FRAMES (KERNEL_FRAMES - KERNEL_OUTER_FRAMES)
#define KERNEL_DEEP_FRAMES (1u << 18)
/* Walks that wait, at most; that go on at a time; and the bytes of those that came to the end. */
#define KERNEL_LATE_BITS 10
#define KERNEL_LATE_WALKS (1 << KERNEL_LATE_BITS)
#define KERNEL_LATE_STATES 8
#define KERNEL_LATE_BYTES (1u << 20)
/* What makes samples, at most; of CPUs. */
#define KERNEL_EVENTS 64
#define KERNEL_CPUS 8192
/* Threads whose hits of tracepoints and probes are wanted. */
#define KERNEL_SAMPLED_TASKS 32768
/* Number of a helper, see sampler_program.c. */
#define KERNEL_SCHEDULE_RESUME 0x7fffffff
/* Rules that each CPU keeps; a power of two. */
#define KERNEL_RULES 4096

/**
 * struct kernel_list - the mappings of a process
 * @number: of the list; it is never used again
 * @first, @count: entries of the map of mappings
 */
struct kernel_list {
	uint64_t number;
	uint32_t first, count;
};

/**
 * struct kernel_process - what is known of a process
 * @list: number 0: its stacks are walked in user space
 * @time: when it had these mappings, by CLOCK_MONOTONIC; 0: nothing is known of them
 * @renewed: when the program has made the list of mappings it did not know; 0: it did not
 * @retry: when it may try to again, after it could not; or 0
 * @page, @page_pid, @changes: where it publishes its registered code, and what the page said
 *	when the list was made; @page 0: there is none
 */
struct kernel_process {
	struct kernel_list list;
	uint64_t time, renewed, retry;
	uint64_t page, changes;
	uint32_t page_pid, unused;
};

/**
 * struct kernel_mapping - code of a file, or that a process has registered
 * @start, @end: addresses
 * @bias: what the address of code is above that in its file
 * @file: number of a table; it is never used again
 * @under, @under_bias: the file that is mapped there, of registered code that its table does not
 *	cover
 */
struct kernel_mapping {
	uint64_t start, end, bias, under_bias;
	uint32_t file, under;
};

/* In the numbers of tables of registered code. */
#define KERNEL_REGISTERED (1u << 30)

/* What stands instead of a number has the bit above, too. */
static inline bool kernel_is_registered(uint32_t file)
{
	return file / KERNEL_REGISTERED == 1;
}

/* The table's entry in the map of files. */
static inline uint32_t kernel_file_index(uint32_t file)
{
	return file % KERNEL_FILES;
}

/**
 * struct kernel_file - a table
 * @number: its number; another one: it is not there any more
 * @table: its pointers are bytes from the start of the map of pages
 * @leaves, @leaves_at: of Go's table, where the function begins that leaves a goroutine's stack, and
 *	how; or 0
 * @entry, @entry_size: the first function of a program; size 0: it has none
 * @first, @first_size: the program's first code, if the table does not cover it; or 0
 * @source: enum bobbin_source of its rules
 * @next: number of the table that is asked for what this one does not cover, or KERNEL_NO_FILE
 * @eh_returns: there may be code as in core/eh_return.h
 * @resort: what the last table does not cover, no other does
 * @tail, @used: of a JIT table, where the process adds to it, and its bytes when the table was
 *	made; or 0
 */
struct kernel_file {
	struct compiled_table table;
	struct stack_switch leaves;
	uint64_t leaves_at;
	uint64_t entry, entry_size, first, first_size, tail, used;
	uint32_t number, next;
	uint8_t source;
	bool eh_returns, resort;
};

/* What the kernel knows a file by; all zero: the vDSO. */
struct kernel_inode {
	uint64_t number;
	uint32_t device, generation;
};

/**
 * struct kernel_inode_file - and we
 * @file: number of its first table
 * @delta: from addresses in the file to its offsets
 */
struct kernel_inode_file {
	uint64_t delta;
	uint32_t file, unused;
};

struct fresh_mapping {
	struct kernel_mapping mapping;
	struct kernel_inode inode;
	uint64_t has_inode;
};

/**
 * struct fresh_list - a list that the program has made
 * @time: before it was begun
 */
struct fresh_list {
	uint64_t number, time;
	uint32_t pid, first, count, unused;
	struct fresh_mapping mappings[KERNEL_FRESH_MAPPINGS];
};

/* In the words of a trace, above the PC. */
#define KERNEL_PC_BITS 56
#define KERNEL_PC ((1ull << KERNEL_PC_BITS) - 1)
#define KERNEL_EXACT (1ull << 63)
#define KERNEL_SOURCE 0x7f

/* Of the kernel's own part of a stack, with its marks. */
#define KERNEL_CHAIN 128
/* Room for both, the cookie, and what the kernel's part leads to; a power of two. */
#define KERNEL_SAMPLE_WORDS 2048

enum kernel_sample_flags {
	KERNEL_FROM_ROOT = 1,       /* no part of the user stack is known */
	KERNEL_HAS_CHAIN = 2,       /* the sample was taken in the kernel */
	KERNEL_CHAIN_FROM_ROOT = 4, /* no part of its stack is known */
	KERNEL_HAS_COOKIE = 8,      /* the stack ends at a page that is not in memory */
	KERNEL_HAS_EVENT = 16,      /* it is not of the first event */
	KERNEL_HAS_GAP = 32,        /* frames are left out between the inner and the outer ones */
};

/**
 * struct kernel_sample_head - a sample, as the program gives it out, with words behind it
 * @time: of the sample, by CLOCK_MONOTONIC
 * @period: of the sample
 * @outer: the callers of the first words, by the hash that stands for all of them; with
 *	KERNEL_FROM_ROOT there are none, and it is the list of mappings of the walk
 * @pid, @tid, @cpu: of the sample
 * @epoch: by which the hashes were made
 * @count: of frames that are new
 * @chain: of words of the kernel's part that are new, which come next
 * @flags: enum kernel_sample_flags
 *
 * The words are frames, leaf first: the PC, the source, and whether the PC is exact.  Then the
 * kernel's, what they lead to, if that is known, and the cookie, if the stack is not whole: when
 * the page is there the stack is walked again, and that has the same cookie.  Then the number of
 * the event, if it is not 0, and the number of frames that are left out, likewise.
 */
struct kernel_sample_head {
	uint64_t time, period, outer;
	uint32_t pid, tid;
	uint16_t cpu, epoch, count;
	uint8_t chain, flags;
};

struct kernel_sample {
	struct kernel_sample_head head;
	uint64_t words[KERNEL_SAMPLE_WORDS];
};

/*
 * Stacks are given out once.  A hash stands for a frame and all of its callers; the program
 * remembers those that it has given out, the recorder what they stand for.  The key is secret:
 * who is profiled does not know which stacks have the same hash, and does not see the hashes.
 * The hash is a fast one, not one of cryptography.  Of two stacks with the same hash one would be
 * shown as the other, and nothing else would be wrong.
 */
#define KERNEL_KNOWN_BITS 16
/* Of samples that have not been read yet, for each CPU and together; powers of two. */
#define KERNEL_CPU_SAMPLE_BYTES (256u << 10)
#define KERNEL_SAMPLE_BYTES_LEAST (1u << 20)
#define KERNEL_SAMPLE_BYTES_MOST (16u << 20)

/**
 * struct stack_key - how stacks are hashed
 * @seed: secret
 * @factor: secret, odd
 */
struct stack_key {
	uint64_t seed, factor;
};

static BOBBIN_ALWAYS_INLINE uint64_t stack_hash(uint64_t factor, uint64_t callers, uint64_t frame)
{
	uint64_t hash = (callers ^ (frame << 8 | frame >> 56)) * factor;

	return hash ^ hash >> 32;
}

/* Where all stacks of a list of mappings begin, in one epoch; list 0 is the kernel's part. */
static BOBBIN_ALWAYS_INLINE uint64_t stack_root(const struct stack_key *key, uint64_t epoch,
						uint64_t list)
{
	return stack_hash(key->factor, stack_hash(key->factor, key->seed, epoch), list);
}

/* How a thread is sampled. */
enum kernel_sampling {
	KERNEL_SAMPLED = 1,   /* else from its next execve() on */
	KERNEL_INHERITED = 2, /* and so is what it starts */
};

/* Of what there is for each event and CPU. */
static BOBBIN_ALWAYS_INLINE uint32_t kernel_event_index(uint32_t event, uint32_t cpus, uint32_t cpu)
{
	return event * cpus + cpu;
}

/* What a CPU has done; a walk is also one that did not come to the end. */
struct kernel_counts {
	uint64_t walks, frames, whole;
};

#endif
