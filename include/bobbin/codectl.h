/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * codectl.h - say where code is and how to unwind it.
 *
 *	struct sframe_setup setup = {
 *		.sframe_start = (uintptr_t)section, .sframe_size = size,
 *		.text_start = (uintptr_t)code, .text_size = code_size,
 *	};
 *	sframe_register(&setup, sizeof(setup));
 *	...
 *	sframe_unregister(&(struct sframe_setup){.sframe_start = (uintptr_t)section},
 *			  sizeof(setup));
 *
 * For code that no file describes to a profiler: what a JIT compiler made, or a
 * loader of one's own has loaded.  A kernel that has the calls gets them; the
 * library keeps and publishes them in any case, so that profilers of this and of
 * other processes find them, also those that come later.  docs/registration.md is the
 * manual, with each error and its cause.
 *
 * All calls are thread-safe.  None may be made from a signal handler.  A table and
 * its code must stay as they are until the call that unregisters them returns.
 */
#ifndef BOBBIN_CODECTL_H
#define BOBBIN_CODECTL_H

#include <bobbin/code_abi.h>
#include <bobbin/reason.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum bobbin_code_place - who has a registration
 * @BOBBIN_CODE_IN_PROCESS: the library, and its page
 * @BOBBIN_CODE_IN_KERNEL: the kernel, and the library
 */
enum bobbin_code_place {
	BOBBIN_CODE_IN_PROCESS,
	BOBBIN_CODE_IN_KERNEL,
};

/**
 * struct bobbin_code_result - what is known beyond success or failure
 * @place: who has it now
 * @error: for -EBADMSG: where the table is malformed, and why
 */
struct bobbin_code_result {
	enum bobbin_code_place place;
	struct bobbin_error error;
};

/**
 * bobbin_codectl() - register or unregister code
 * @option: enum code_opt
 * @info: struct code_elf_info or struct code_jit_info
 * @info_size: bytes at @info: an older, shorter structure counts as followed by
 *	zeros, a newer, longer one must be zero after what is known here
 * @flags: 0
 * @ret: more than the return value says, or NULL
 *
 * CODE_UNREGISTER takes the structure that was registered.
 *
 * Return: 0, or a negative errno, see docs/registration.md.
 */
int bobbin_codectl(unsigned int option, const void *info, size_t info_size, unsigned int flags,
		   struct bobbin_code_result *ret);

/**
 * bobbin_sframe_register() - register a section for a piece of text
 * @setup: what and where
 * @size: bytes at @setup, as @info_size of bobbin_codectl()
 * @ret: more than the return value says, or NULL
 *
 * Return: 0, or a negative errno, see docs/registration.md.
 */
int bobbin_sframe_register(const struct sframe_setup *setup, size_t size,
			   struct bobbin_code_result *ret);

/**
 * bobbin_sframe_unregister() - take a section back
 * @setup: @sframe_start of it; the other fields are 0
 * @size: bytes at @setup
 *
 * No walk reads the section when this returns.
 *
 * Return: 0, or a negative errno, see docs/registration.md.
 */
int bobbin_sframe_unregister(const struct sframe_setup *setup, size_t size);

/**
 * bobbin_code_dropped() - whether a walk of this process found a table malformed
 * @addr: of the code that the table was for: registered, or of a loaded object
 * @ret: where in the table, and why; untouched if it serves
 *
 * Such a table is dropped for good; of a loaded object that is its .sframe.
 * Async-signal-safe.
 *
 * Return: 1: it was dropped; 0: it was not; -ENOENT: no code is known there.
 */
int bobbin_code_dropped(uint64_t addr, struct bobbin_error *ret);

/* The proposed prctl(2) pair has had other numbers in each series; these are ours. */
#define BOBBIN_PR_ADD_SFRAME 0x53465201
#define BOBBIN_PR_REMOVE_SFRAME 0x53465202

/**
 * bobbin_prctl() - the same through the proposed prctl(2) options
 * @option: BOBBIN_PR_ADD_SFRAME (@arg2: start, @arg3: end of the section, @arg4,
 *	@arg5: start and end of the text) or BOBBIN_PR_REMOVE_SFRAME (@arg2: start
 *	of the section, the others 0)
 * @arg2, @arg3, @arg4, @arg5: see @option
 *
 * Return: 0, or a negative errno, see docs/registration.md.
 */
int bobbin_prctl(int option, unsigned long arg2, unsigned long arg3, unsigned long arg4,
		 unsigned long arg5);

/**
 * codectl(), sframe_register(), sframe_unregister() - the calls as Linux would have them
 * @option, @info, @info_size, @flags: as for bobbin_codectl()
 * @setup, @size: as for bobbin_sframe_register() and bobbin_sframe_unregister()
 *
 * Should the C library define them one day, the first library in the search order has its
 * way: that is this one in programs that are linked with it.  The names above always lead
 * here.
 *
 * Return: 0, or -1 and errno.
 */
int codectl(unsigned int option, void *info, size_t info_size, unsigned int flags);
int sframe_register(struct sframe_setup *setup, size_t size);
int sframe_unregister(struct sframe_setup *setup, size_t size);

#ifdef __cplusplus
}
#endif

#endif
