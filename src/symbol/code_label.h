/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_label.h - what to call code without a symbol.
 *
 *	cc1+0x4fa310      the file and where the function starts, by unwind tables
 *			  or as inferred from the code, where no table knows it
 *	libx.so.1+0x1278  neither knows it: where the last known function before it
 *			  ends, or where its segment starts
 *	gone+0x1139	  the file cannot be read: the spot itself
 *	libc.so.6+0x519c0 no caller: the spot is one byte before what fibers return to
 *	bundle+0x12340    an ELF file inside of a file: where the function is in the latter
 *	[signal return]   code that the kernel runs when a signal handler returns
 *	[anon], [heap]    memory without a file
 */
#ifndef BOBBIN_SYMBOL_CODE_LABEL_H
#define BOBBIN_SYMBOL_CODE_LABEL_H

#include "base/name_pool.h"
#include "symbol/symbolizer.h"
#include "unwind/module.h"

/* Code of a file. */
struct code_spot {
	struct module *module; /* NULL: the file cannot be read */
	bool registered;       /* the process told of @function, which holds the code */
	uint64_t function;
	uint64_t vaddr; /* in the file's own space, if there is a module or a function */
	uint64_t file_offset;
	uint64_t mapped_offset; /* where what is mapped starts in the file */
	const char *path;
};

#define CODE_LABEL_GAPS 64

struct code_gap {
	const struct module *module;
	uint64_t start, end;
};

struct code_labels {
	struct bobbin_unwinder *unwinder; /* of the modules; borrowed */
	struct name_pool names;
	struct code_gap gaps[CODE_LABEL_GAPS]; /* the last ones */
	size_t gap_count;
};

void code_labels_init(struct code_labels *labels, struct bobbin_unwinder *unwinder);
void code_labels_fini(struct code_labels *labels);

/* @module and @vaddr of a spot whose other members are set. */
void code_spot_place(struct code_spot *spot, struct module *module);

/*
 * Make the file of @module known, by its descriptor, which must be as long as @symbolizer is.
 * @file: that it is, or is in.  -ENOENT: it has no descriptor; an errno of symbolizer_file().
 */
int module_symbols(struct symbolizer *symbolizer, const struct module *module,
		   const struct mapped_file *file, unsigned int *ret);

/*
 * The symbols at the spot, as symbolizer_resolve() of file @id, but for those that the
 * unwind tables contradict.
 */
int code_symbols(struct symbolizer *symbolizer, const struct code_spot *spot, unsigned int id,
		 struct symbol *ret, size_t max);

/*
 * Returns 1, -ENOMEM.  Code that no table knows is analysed, and waited for, since without
 * its functions all of it would have one name.
 */
int code_label(struct code_labels *labels, const struct code_spot *spot, struct symbol *ret);

/* "[anon]" for memory without a file, "[vdso]" and the like, else NULL; @path as mapped. */
const char *code_region(const char *path);

#endif
