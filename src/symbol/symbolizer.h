/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symbolizer.h - from an address to the names that a reader knows.
 *
 *	struct symbolizer *s;
 *	struct symbol frames[16];
 *	unsigned int id;
 *
 *	symbolizer_open(&(struct symbolizer_options){ .inlines = true, .lines = true,
 *						      .demangle = true }, &s);
 *	symbolizer_file(s, &(struct symbol_file){ .path = "/usr/bin/python3" }, &id);
 *	n = symbolizer_resolve(s, id, file_offset, frames, 16);
 *	...
 *	symbolizer_close(s);
 *
 * An address is given as an offset into the file that was mapped there, so no
 * load address is needed.  For a return address the caller subtracts one
 * first.  Nothing is opened before the first address of a file is asked for,
 * and DWARF is read only if inlines or lines are wanted.
 *
 * Names come from .symtab, .dynsym, .gnu_debugdata and separate debug files; an
 * address outside every symbol has no name.  A file whose build ID is not the
 * one that was mapped is not used.
 *
 * ELF and DWARF are read by libelf and libdw, C++, Rust and D by libiberty, in a
 * process of their own without rights, see name_process.h.  All input is untrusted:
 * the files belong to whoever is profiled.  They are read with pread (a file that
 * shrinks cannot fault; only large ones that nobody else can write to are mapped),
 * every loop is bounded, and a damaged file costs its names, nothing else.  Control
 * characters in names become '?'.
 *
 * One symbolizer serves one thread at a time.  It blocks: it reads files and
 * may, when told to, ask a debuginfod server.  Its process is a child of ours, which
 * ends with the thread that started it; callers wait for other children by their numbers.
 */
#ifndef BOBBIN_SYMBOL_SYMBOLIZER_H
#define BOBBIN_SYMBOL_SYMBOLIZER_H

#include "base/process_reader.h"
#include "symbol/jitdump.h"
#include "symbol/symbol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct symbolizer;

/* What the symbolizer holds, to see that it keeps to its limits. */
struct symbolizer_stats {
	size_t memory;     /* bytes */
	unsigned int open; /* files */
};

/* Returns 0, -ENOMEM. */
int symbolizer_open(const struct symbolizer_options *options, struct symbolizer **ret);
void symbolizer_close(struct symbolizer *s);

/*
 * Start its process now and not with the first name, since it inherits what memory holds then.
 * Not to be relied on: it is started where it is needed.
 */
void symbolizer_start(struct symbolizer *s);

/*
 * Before it names what another recording has: what is of processes, whose numbers are given again, and
 * of the kernel is read again, and files that were given by descriptors of ours are forgotten.  All
 * others stay known.
 */
void symbolizer_refresh(struct symbolizer *s);

/*
 * Make a file known and return its number, the same for the same build ID, or
 * without one for the same device and inode, or else for the same two paths.
 * A file that could not be opened before, or is in more roots by now, is read again by the new
 * paths.
 * Returns 0, -EINVAL, -ENOMEM.
 */
int symbolizer_file(struct symbolizer *s, const struct symbol_file *file, unsigned int *ret);

/*
 * Make an ELF image in memory known, such as the vDSO; @image is copied.
 * Images are the same if their build IDs or else their names and bytes are.
 * Returns 0, -EINVAL, -ENOMEM, -EAGAIN.
 */
int symbolizer_image(struct symbolizer *s, const void *image, size_t size, const char *name,
		     unsigned int *ret);

/*
 * The functions at @file_offset of file @id, innermost inlined one first, the
 * one that holds the code last.  At most @max are written.  Names live until
 * symbolizer_close().
 * Returns their number, 0 if the address has no symbol, -EINVAL; -ENOMEM or, where no
 * process can be started, -EAGAIN: it may have one.
 */
int symbolizer_resolve(struct symbolizer *s, unsigned int id, uint64_t file_offset,
		       struct symbol *ret, size_t max);

/*
 * That offsets in these ranges of file @id will be asked for, which is cheaper together.
 */
void symbolizer_expect(struct symbolizer *s, unsigned int id, const struct offset_range *ranges,
		       size_t count);

/*
 * The kernel function at @address by kallsyms, which is read once, when first
 * needed; "name [module]" for modules.  Without the right to see addresses
 * (kptr_restrict) there are none.
 * Returns 1, 0, -ENOMEM.
 */
int symbolizer_kernel(struct symbolizer *s, uint64_t address, struct symbol *ret);

/*
 * Likewise, as kallsyms has it, and where it starts; valid as long as @s.  NULL: there is none, or no
 * memory.
 */
const char *symbolizer_kernel_listed(struct symbolizer *s, uint64_t address, uint64_t *start);

/* The symbol of such a text, which a recording has kept.  1 or -ENOMEM. */
int symbolizer_kernel_kept(struct symbolizer *s, const char *listed, uint64_t start,
			   uint64_t offset, struct symbol *ret);

/*
 * The JIT-compiled function at @address of process @pid by its perf map,
 * /tmp/perf-PID.map ("START SIZE name" lines), read again when it changed; or by that at @path,
 * if it is not NULL.  @is_there: whether there is such a file.
 * Returns 1, 0, -ENOMEM.
 */
int symbolizer_perf_map(struct symbolizer *s, pid_t pid, const char *path, uint64_t address,
			struct symbol *ret, bool *is_there);

/*
 * The JIT-compiled function at @address by a jitdump file that the process has
 * mapped, as it was at @time, see jitdump.h; with a source line if lines are
 * wanted.
 * Returns 1, 0, -ENOMEM.
 */
int symbolizer_jit_dump(struct symbolizer *s, const struct jitdump_file *file, uint64_t address,
			uint64_t time, struct symbol *ret);

/*
 * Code that was told otherwise, with a name that lives.  Returns 1, -ENOMEM.
 */
int symbolizer_jit_name(struct symbolizer *s, const struct jitdump_code *code, uint64_t address,
			struct symbol *ret);

/*
 * A function of a file that was told otherwise: its symbol as the file spells it,
 * its address, and how far in it the address to be named is.  Returns 1, -ENOMEM.
 */
int symbolizer_kept(struct symbolizer *s, const char *mangled, uint64_t start, uint64_t offset,
		    struct symbol *ret);

void symbolizer_get_stats(const struct symbolizer *s, struct symbolizer_stats *ret);

#endif
