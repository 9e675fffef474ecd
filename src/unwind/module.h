/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * module.h - the unwind tables of one file.
 *
 * For a PC the tables are asked in order: .gopclntab, .sframe, .eh_frame, .debug_frame,
 * and the side-file, which is looked for when it is first needed.  Go's own table goes
 * first: what is made of its DWARF does not know of roots and switches of stacks.  A .sframe section
 * that turns out to be malformed is dropped for good and its error kept; so is a
 * side-file.
 */
#ifndef BOBBIN_UNWIND_MODULE_H
#define BOBBIN_UNWIND_MODULE_H

#include <bobbin/unwind.h>

#include "base/process_reader.h"
#include "elf/elf_image.h"
#include "golang/pclntab.h"
#include "sidefile/sidefile.h"
#include "target/mapped_file.h"
#include "unwind/call_frames.h"
#include "unwind/indexed_sections.h"

struct module {
	struct elf_image image;
	struct pclntab go;
	struct indexed_sections sframe;
	struct bobbin_error sframe_error; /* why .sframe was dropped, if it was */
	struct call_frames frames;
	const char *sframe_path;   /* where side-files are, borrowed; NULL: looked for already */
	struct sidefile *sidefile; /* or NULL */
	int fd;                    /* to read code bytes, or -1 */
	bool eh_returns;           /* there may be code as in core/eh_return.h */
};

/*
 * Read a file's tables; @reader may be NULL.  -ENOENT and friends: it cannot be opened; -EBADMSG: it
 * is not usable; -ENOBUFS: its sections have more than @room bytes; -ENOMEM.
 */
int module_open(struct process_reader *reader, const struct mapped_file *file,
		const struct bobbin_unwinder_options *options, uint64_t room, struct module **ret);
void module_close(struct module *module);

/*
 * The row for an address of the file's own space.  Always gives a row: one
 * without a rule says why.  *@source: who answered.
 */
void module_lookup(struct module *module, uint64_t vaddr, struct bobbin_row *row,
		   enum bobbin_source *source);

/*
 * The same of what is in memory, without a change: several threads and signal
 * handlers may ask at once.  Side-files are left out.  0; -EBADMSG: .sframe, which
 * is asked if @use_sframe, is malformed, and another table has answered.
 */
int module_ask(const struct module *module, bool use_sframe, uint64_t vaddr,
	       struct bobbin_error *err, struct bobbin_row *row, enum bobbin_source *source);

/*
 * What call-frame information says when it follows another register than the frame
 * pointer: @arch is the file's but for @fp.  false: it says nothing.  As module_ask().
 */
bool module_follow(const struct module *module, const struct bobbin_arch *arch, uint64_t vaddr,
		   struct bobbin_rule *ret);

/*
 * Where the function at an address begins; false: no table knows.  Call-frame
 * information is asked first: what SFrame calls a function may be part of one.
 */
bool module_function(struct module *module, uint64_t vaddr, uint64_t *ret);

/*
 * Each function of a table, or block of one, as long as @sink returns 0; what it
 * returned.  Malformed entries are left out.  @source: SFRAME, EH_FRAME, DEBUG_FRAME,
 * SIDEFILE or GO.
 */
int module_functions(struct module *module, enum bobbin_source source,
		     int (*sink)(void *ctx, uint64_t start, uint64_t end), void *ctx);

/*
 * The code around an address that no table knows: from where the last function
 * before it ends, or its segment starts, to the next function.  Looks at each
 * function of all tables.
 */
void module_gap(struct module *module, uint64_t vaddr, uint64_t *start, uint64_t *end);

/* The tables of the file that is mapped at an address; NULL: there are none. */
struct module *unwinder_module(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
			       uint64_t addr);

/* Who reads other processes; NULL: without a deadline. */
struct process_reader *unwinder_reader(struct bobbin_unwinder *unwinder);

/* The tables of a file that the unwinder knows; NULL: there are none. */
struct module *unwinder_file_module(struct bobbin_unwinder *unwinder,
				    const struct mapped_file *file);

/* Look for the side-file now, if nobody has yet. */
void module_open_sidefile(struct module *module);

/* Whether an address belongs to the first code of a program or of a dynamic loader. */
bool module_is_entry(const struct module *module, uint64_t vaddr);

/* Code bytes at a file offset; false: not to be had. */
bool module_code(const struct module *module, uint64_t offset, void *dst, size_t size);

/*
 * What the code at a file offset says against the tables, or where they say nothing.
 * @row_ends: their row does not hold for what is after it.
 */
void module_look_at_code(struct module *module, uint64_t offset, bool row_ends,
			 struct bobbin_rule *rule, enum bobbin_source *source);

/* Whether the instruction before a file offset is a system call. */
bool module_after_syscall(struct module *module, uint64_t offset);

#endif
