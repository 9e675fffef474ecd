/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sample_set.h - all samples of a recording that can be unwound, in memory.
 *
 * Two unwinders are compared on the same registers, the same copies of stacks
 * and the same mappings.  Mappings change while a program runs: each state of
 * them that a sample met is kept once, as a space of the unwinder.
 */
#ifndef BOBBIN_ACCURACY_SAMPLE_SET_H
#define BOBBIN_ACCURACY_SAMPLE_SET_H

#include <bobbin/unwind.h>

#include "profile/process_table.h"

/**
 * struct sample_layout - mappings of one or more processes
 * @space: the mappings
 * @hash: of all mappings
 * @files_hash: of the mappings of files
 */
struct sample_layout {
	struct bobbin_space *space;
	uint64_t hash, files_hash;
};

/**
 * struct set_sample - one sample
 * @comm: name of the thread
 * @regs: borrows @gpr
 * @gpr: by DWARF number
 * @stack: the copy of the stack
 * @layout: index of the mappings
 * @program, @number: for the caller, 0
 */
struct set_sample {
	char comm[COMM_SIZE];
	struct bobbin_regs regs;
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_stack_copy stack;
	uint32_t layout;
	size_t program, number;
};

struct sample_set {
	struct set_sample *samples;
	size_t count, room;
	struct sample_layout *layouts;
	size_t layout_count, layout_room;
	size_t without_user; /* samples that cannot be unwound, left out */
};

/**
 * sample_set_load() - read a recording
 * @path: made by `perf record --call-graph dwarf`
 * @unwinder: for the spaces; must outlive the set
 * @err: what is wrong with the file
 * @ret: the set; give it back with sample_set_fini() in any case
 *
 * Return: 0 or a negative errno, -EBADMSG with @err.
 */
int sample_set_load(const char *path, struct bobbin_unwinder *unwinder, struct bobbin_error *err,
		    struct sample_set *ret);

/**
 * sample_set_fini() - free everything
 * @set: the set
 */
void sample_set_fini(struct sample_set *set);

#endif
