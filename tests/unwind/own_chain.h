/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * own_chain.h - compare a trace of the own stack with the functions that called.
 *
 * Functions are named by their addresses; they must be visible, so that dladdr(3)
 * knows them.  Frames of other objects than this program and its plugins are left
 * out.
 */
#ifndef OWN_CHAIN_H
#define OWN_CHAIN_H

#include <bobbin/backtrace.h>

#define CHAIN_MAX 256

/* A function that a test expects in a chain. */
#ifdef __clang__
#define LINK __attribute__((visibility("default"), noinline))
#else
#define LINK __attribute__((visibility("default"), noipa))
#endif

/* After a call that is not to become a jump. */
#define STAY() __asm__ volatile("" ::: "memory")

struct own_chain {
	struct bobbin_frame frames[CHAIN_MAX];
	struct bobbin_trace trace;
	const void *functions[CHAIN_MAX]; /* of this program, leaf first */
	unsigned int count;
	bool by_frame_pointer; /* some frame is */
};

/* Ready for a walk. */
void own_chain_init(struct own_chain *chain);

/* Fill in the functions after a walk. */
void own_chain_name(struct own_chain *chain);

/* Whether the innermost functions are those, up to NULL. */
bool own_chain_begins(const struct own_chain *chain, const void *const *functions);

/* The same, and the trace is complete and by tables alone; prints what it is if not. */
bool own_chain_is(const struct own_chain *chain, const void *const *functions);

#define CHAIN(...) ((const void *const[]){__VA_ARGS__, NULL})

#endif
