/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symbol.h - a file that is mapped, what an address in it is called, and how that is looked for.
 */
#ifndef BOBBIN_SYMBOL_SYMBOL_H
#define BOBBIN_SYMBOL_SYMBOL_H

#include <bobbin/reason.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "target/mapped_file.h"

struct process_reader;

/* What is open here is so in no other process. */
#define OWN_FILES "/proc/self/fd/"

static inline bool is_own_file(const char *path)
{
	return !strncmp(path, OWN_FILES, strlen(OWN_FILES));
}

/* A mapped file.  Everything is copied. */
struct symbol_file {
	const char *path; /* the name as mapped */
	const char
		*open_path; /* a path that opens these very bytes (/proc/PID/root/...), or NULL */
	const uint8_t *build_id;
	size_t build_id_len;     /* 0: unknown; more than 64 bytes are refused */
	pid_t pid;               /* of the process that has it mapped, or 0 */
	struct file_roots roots; /* of processes that have it */
	const char *inside;      /* @path, if that is one in ours, as one in these; or NULL */
};

/* Offsets of a file, from @first on and before @end. */
struct offset_range {
	uint64_t first, end;
};

struct symbol {
	const char *name;     /* as printed; "??" if an inlined function's is not known */
	const char *mangled;  /* as the file spells it */
	uint64_t start;       /* of the function that holds the code, in the file's addresses */
	uint64_t size;        /* bytes; 0 if unknown */
	bool guessed;         /* @size is: the symbol has none */
	uint64_t offset;      /* of the address in that function */
	const char *src_file; /* NULL: unknown */
	uint32_t line;        /* 0: unknown */
	bool inlined;         /* expanded into the next symbol of the array */
};

/* Told once of a file that is read no further; its names stay. */
typedef void symbolizer_damage_fn(void *ctx, const char *path, const struct bobbin_error *damage);

/* Told once of a file of which names are missing since who read it "ended by signal 11", say. */
typedef void symbolizer_loss_fn(void *ctx, const char *path, const char *reason);

/* Zero is a sensible value of every member.  Strings are copied. */
struct symbolizer_options {
	bool inlines;           /* expand inlined functions (reads DWARF) */
	bool lines;             /* source file and line (reads DWARF) */
	bool demangle;          /* C++, Rust, OCaml, Haskell, D; parameter lists go */
	bool debuginfod;        /* ask the servers of $DEBUGINFOD_URLS, if libdebuginfod is here */
	size_t memory_limit;    /* bytes over all files, least recently used go; 0: 512 MiB */
	const char *debug_path; /* colon list of directories; NULL: /usr/lib/debug */
	const char *kallsyms;   /* NULL: /proc/kallsyms */
	const char *symfs;      /* look for mapped paths below this directory only; NULL: / */
	struct process_reader *reader;   /* of processes' files; borrowed; NULL: none */
	symbolizer_damage_fn *on_damage; /* of jitdump files; NULL: say nothing */
	symbolizer_loss_fn *on_loss;     /* likewise of others */
	void (*on_silence)(void *ctx);   /* once, if servers do not answer; NULL: say nothing */
	void *on_damage_ctx;             /* of all three */
};

#endif
