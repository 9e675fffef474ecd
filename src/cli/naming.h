/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * naming.h - frames by name: mapping, file and function of each address.
 */
#ifndef BOBBIN_CLI_NAMING_H
#define BOBBIN_CLI_NAMING_H

#include "cli/jit_naming.h"
#include "export/call_tree.h"
#include "profile/session.h"
#include "symbol/symbolizer.h"

/* A function, or an inlined one, at an address. */
struct named_frame {
	uint64_t pc;
	struct symbol symbol; /* name NULL: unknown */
	const char *dso;      /* path, "[kernel.kallsyms]", "[vdso]", "[anon]", "[unknown]" */
	uint64_t file_offset;
	enum frame_kind kind;
	uint8_t source; /* enum bobbin_source */
	bool inlined;
};

/* How many functions one address may stand for. */
#define NAMING_MAX_INLINES 32

struct naming;
struct kept_names;

struct naming_options {
	bool no_inlines, lines, no_demangle;
	bool quiet; /* do not complain about damaged jitdump files */
	const char *debug_path;
	const char *symfs;
	size_t memory_limit; /* as in struct symbolizer_options */
};

/*
 * @unwinder knows where functions begin that have no symbol; it must outlive
 * the naming.  0 or -ENOMEM.
 */
int naming_open(const struct naming_options *options, struct bobbin_unwinder *unwinder,
		struct naming **ret);
void naming_close(struct naming *naming);

/* Bytes that names take, more or less. */
size_t naming_memory(const struct naming *naming);

/* Take over the names that the recording has, or NULL; once. */
void naming_keep(struct naming *naming, struct kept_names *kept);

/*
 * Complain, in one line, of files whose names are not shown since what is at their paths is, or may
 * be, another file by now.
 */
void naming_tell_replaced(const struct naming *naming);

/* Frames that may have a name, which could not be looked up, and why: a negative errno. */
struct naming_loss {
	uint64_t frames;
	int error;
};

struct naming_loss naming_loss(const struct naming *naming);

/* Whether there are any; complains of them in one line. */
bool naming_tell_loss(const struct naming_loss *loss);

/*
 * The functions at a frame's address, innermost first; at least one, the last
 * one holds the code.  At most NAMING_MAX_INLINES.  Code of a mapping without a
 * symbol is called as code_label.h says.
 */
size_t naming_frame(struct naming *naming, struct bobbin_space *space,
		    const struct naming_moment *moment, const struct bobbin_frame *frame,
		    struct named_frame *ret);

/*
 * A whole sample, outermost frame first, as the writers of src/export want it;
 * valid until the next call.  A negative errno if memory runs out.
 */
int naming_stack(struct naming *naming, const struct stack_sample *sample,
		 const struct call_frame **ret, size_t *count);

#endif
