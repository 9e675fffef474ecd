/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * relay_program.h - a program that runs another one, once there is one.
 *
 *	sample of a counter ──► relay ──┬── the other program
 *	                                └── there is none yet: the kernel makes the usual sample
 *
 * The kernel proves it at once, so events have it before anything is sampled.  Events of threads that
 * are started later inherit it, and so all change over at the same time.
 */
#ifndef BOBBIN_BPFWALK_RELAY_PROGRAM_H
#define BOBBIN_BPFWALK_RELAY_PROGRAM_H

/**
 * struct relay_program - what is loaded
 * @program: 0: nothing
 * @place: the map that the other program is put into
 */
struct relay_program {
	int program, place;
};

/* 0, or a negative errno of bpf(2). */
int relay_program_load(struct relay_program *ret);

/* Run @program, a descriptor, from now on.  0 or a negative errno. */
int relay_program_run(const struct relay_program *relay, int program);

/* One that is all zero is fine, and so it is then. */
void relay_program_unload(struct relay_program *relay);

#endif
