/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwinder.h - inside of struct bobbin_unwinder: the files that it knows, and what walks share.
 */
#ifndef BOBBIN_UNWIND_UNWINDER_H
#define BOBBIN_UNWIND_UNWINDER_H

#include "core/known_code.h"
#include "unwind/code_pages.h"
#include "unwind/kept_code.h"
#include "unwind/made_code.h"
#include "unwind/module.h"
#include "unwind/remote_code.h"
#include "unwind/rule_cache.h"
#include "unwind/stack_tops.h"

/* Of the sets of its cache. */
#define UNWINDER_CACHE_BITS 15

/* What is known of places of files is remembered, directly mapped. */
#define RETURN_BITS 13
#define RETURN_SHIFT 2 /* for enum code_answer */

struct bobbin_unwinder {
	struct bobbin_unwinder_options options;
	char *debug_path, *sframe_path;
	struct module_context context; /* @reader NULL: without a deadline */
	struct file_table files;
	struct module_slot *modules; /* by file number */
	uint32_t module_count;
	size_t module_room;
	uint64_t clock;
	uint32_t last;       /* number of the file that was asked for last */
	uint64_t held;       /* of all slots */
	uint64_t rests_from; /* likewise */
	uint64_t inferred;   /* tables of inferred rules that are there */
	struct remote_room registered;
	struct code_pages pages;
	struct made_code *made; /* once such code was asked about, or NULL */
	struct kept_code *kept; /* once unwinder_keep_code() found some, or NULL */
	struct stack_tops tops;
	uint64_t returns[1u << RETURN_BITS]; /* keys with what is known of them; 0: empty */
	struct cached_rules cache[1u << UNWINDER_CACHE_BITS];
};

/* As bobbin_unwind(), where what @mem reads is mostly @copy; NULL: it is not known to be a copy. */
void unwind_copied(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
		   const struct bobbin_regs *regs, const struct bobbin_mem *mem,
		   const struct bobbin_stack_copy *copy, struct bobbin_trace *trace);

/* Whether an address is in code that a process has made, and that no table describes. */
bool unwinder_is_made(struct bobbin_unwinder *unwinder, struct bobbin_space *space, uint64_t addr);

/* Who gave the rule; BOBBIN_SOURCE_NONE: nobody, and the rule says why. */
enum bobbin_source unwinder_rule(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
				 uint64_t pc, struct bobbin_rule *ret);

#endif
