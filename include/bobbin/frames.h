/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frames.h - register code by the .eh_frame bytes that a JIT compiler made for it.
 *
 *	bobbin_frames_register(eh_frame, NULL);
 *	...
 *	bobbin_frames_unregister(eh_frame);
 *
 * The calls take what libgcc's __register_frame() takes.  The library makes an
 * SFrame section of it and registers that; the bytes are read during the call
 * only.  libbobbin-frames.so makes the same of each __register_frame() of a
 * program that knows nothing of bobbin: docs/registration.md.
 *
 * All calls are thread-safe.  None may be made from a signal handler.
 */
#ifndef BOBBIN_FRAMES_H
#define BOBBIN_FRAMES_H

#include <bobbin/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct bobbin_frames_result - what became of some .eh_frame bytes
 * @functions, @rows: FDEs and their rows
 * @lost_functions: FDEs that no walk will find: wholly malformed, or for code of
 *	a loaded file, whose own tables serve it
 * @lost_rows: rows that SFrame cannot express, or that are malformed
 * @cut: sections that did not end with a terminator but with something else
 */
struct bobbin_frames_result {
	uint64_t functions, rows;
	uint64_t lost_functions, lost_rows;
	uint64_t cut;
};

/**
 * bobbin_frames_register() - register the functions of .eh_frame bytes
 * @begin: their start: a section up to its terminator if it begins with a CIE,
 *	one FDE if it begins with that
 * @ret: what became of them, or NULL; untouched on failure
 *
 * Code need not be executable yet.  Each piece of code is registered as far as its
 * functions touch, or have only alignment between them.  The memory is read with
 * care: where it cannot be read, the bytes end.
 *
 * Return: 0; -ENODATA: there is nothing that could be registered; -EEXIST: other
 * code is registered there; -EFAULT: the first entry cannot be read; -ENOMEM;
 * or another errno of bobbin_sframe_register().
 */
int bobbin_frames_register(const void *begin, struct bobbin_frames_result *ret);

/**
 * bobbin_frames_register_table() - the same for several sections as one
 * @table: their starts, and NULL
 * @ret: as for bobbin_frames_register(), all together
 *
 * Return: as bobbin_frames_register().
 */
int bobbin_frames_register_table(const void *const *table, struct bobbin_frames_result *ret);

/**
 * bobbin_frames_unregister() - take back what was registered
 * @begin: or @table, as it was given
 *
 * No walk uses it when this returns; the code may go.
 *
 * Return: 0, or -ENOENT.
 */
int bobbin_frames_unregister(const void *begin);

/**
 * struct bobbin_frames_totals - what libbobbin-frames.so has seen
 * @registered: calls whose frames are known to bobbin, too
 * @refused: calls whose frames are not
 * @all: sums over those that are
 */
struct bobbin_frames_totals {
	uint64_t registered, refused;
	struct bobbin_frames_result all;
};

/**
 * bobbin_frames_totals() - what became of the program's registrations
 * @ret: numbers up to now
 *
 * In libbobbin-frames.so, not in libbobbin.so.  Async-signal-safe.
 */
void bobbin_frames_totals(struct bobbin_frames_totals *ret);

#ifdef __cplusplus
}
#endif

#endif
