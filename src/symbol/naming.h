/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * naming.h - frames by name: mapping, file and function of each address.
 */
#ifndef BOBBIN_SYMBOL_NAMING_H
#define BOBBIN_SYMBOL_NAMING_H

#include <bobbin/unwind.h>
#include <string.h>

#include "base/frame_kind.h"
#include "symbol/jit_naming.h"
#include "symbol/loaded_programs.h"
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

/* What the kernel is called among files. */
#define NAMING_KERNEL "[kernel.kallsyms]"

struct naming;
struct recorded_names;

/* Which kernel's functions are to be named; see naming_kernel_is(). */
enum naming_kernel {
	KERNEL_RUNS,     /* this one, now */
	KERNEL_HAS_RUN,  /* this one, when its programs of BPF may have been others */
	KERNEL_IS_OTHER, /* another one, or another boot of it */
};

/* Whether a name of kallsyms, "name [module]", is that of a program of BPF. */
static inline bool naming_is_bpf(const char *listed)
{
	return strstr(listed, " [bpf]");
}

/*
 * What looks up names: @reader and, if @options have none, @debug_path are chosen by whoever opens it;
 * servers are asked if the environment names some.  As symbolizer_open().
 */
int naming_symbolizer_open(const struct symbolizer_options *options, struct process_reader *reader,
			   const char *debug_path, struct symbolizer **ret);

/*
 * @shared: of naming_symbolizer_open(); it outlives the naming, and is no other's meanwhile.  NULL: it
 * opens one, for the reader of @unwinder.
 * @unwinder knows where functions begin that have no symbol; it must outlive
 * the naming.  @kept: the names that a recording keeps, or NULL; they are taken over in any case.
 * Their folders of debug files are used where the options have none.  0 or -ENOMEM.
 */
int naming_open(const struct symbolizer_options *options, struct symbolizer *shared,
		struct bobbin_unwinder *unwinder, struct recorded_names *kept, struct naming **ret);
void naming_close(struct naming *naming);

/*
 * From now on functions of the kernel are those of @kernel; KERNEL_RUNS before.  What a recording keeps
 * of it comes first, and is all there is then.
 */
void naming_kernel_is(struct naming *naming, enum naming_kernel kernel);

/* Whoever learns of programs of BPF tells it here: frames in them have their names, whichever kernel it is. */
struct loaded_programs *naming_programs(struct naming *naming);

/* As symbolizer_start(). */
void naming_start(struct naming *naming);

/* Bytes that names take, more or less. */
size_t naming_memory(const struct naming *naming);

/*
 * The first of the files, and how many there are, whose names are not shown since what is at their
 * paths is, or may be, another file by now.  NULL: there are none.
 */
const char *naming_replaced(const struct naming *naming, size_t *count);

/* Frames that may have a name, which could not be looked up, and why: a negative errno. */
struct naming_loss {
	uint64_t frames;
	int error;
};

struct naming_loss naming_loss(const struct naming *naming);

/*
 * The functions at a frame's address, innermost first; at least one, the last
 * one holds the code.  At most NAMING_MAX_INLINES.  Code of a mapping without a
 * symbol is called as code_label.h says.
 */
size_t naming_frame(struct naming *naming, struct bobbin_space *space,
		    const struct naming_moment *moment, const struct bobbin_frame *frame,
		    struct named_frame *ret);

#endif
