/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * native_sampler.h - bpf/sampler.bpf.c compiled as user code.
 *
 * The same source, with memory for the kernel's maps and with helpers that read what
 * the caller says is a process's memory.  So the program can be run over samples that were
 * recorded, under sanitizers, and by a fuzzer.  One process, one thread, one CPU.
 */
#ifndef BOBBIN_TESTS_NATIVE_SAMPLER_H
#define BOBBIN_TESTS_NATIVE_SAMPLER_H

#include "bpfwalk/bpf_abi.h"

#define NATIVE_API __attribute__((visibility("default")))

/**
 * struct native_process - what is sampled
 * @pc, @sp, @fp: user registers
 * @list: its mappings
 * @read: its memory; false: it cannot be read.  @wait: also what is not resident yet
 * @ctx: for @read
 */
struct native_process {
	uint64_t pc, sp, fp;
	struct kernel_list list;
	/* spelled out, as uint64_t is another type in programs of the kernel */
	bool (*read)(void *ctx, unsigned long long addr, void *room, uint32_t size, bool wait);
	void *ctx;
};

/**
 * struct native_walk - what the program has done
 * @frames, @count: frames that it came to; valid until the next walk
 * @reads: of memory, or tries
 * @whole: it came to the end
 * @late: that was after it had waited
 */
struct native_walk {
	const uint64_t *frames;
	uint64_t count, reads;
	bool whole, late;
};

/* Memory of the maps that the recorder fills; zeros at first. */
struct native_maps {
	struct kernel_mapping *mappings;
	struct kernel_file *files;
	uint8_t *pages;
};

/* Once, before all walks; @from_sp, @from_fp, @record: plain_forms_of() */
NATIVE_API void native_sampler_init(uint64_t from_sp, uint64_t from_fp, uint64_t record,
				    uint64_t outermost, struct native_maps *ret);

/* A sample, walked at once or, with @may_wait, when the process returns from the kernel. */
NATIVE_API void native_sampler_walk(const struct native_process *process, bool may_wait,
				    struct native_walk *ret);

#endif
