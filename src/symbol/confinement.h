/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * confinement.h - what a process that reads hostile bytes gives up.
 *
 * Root becomes nobody, without groups and capabilities.  Nothing new can be opened, started or
 * connected to; memory, and the descriptors that are there, stay.  It ends with its parent.  Where the kernel, or who
 * emulates it, lacks a part, the others hold.
 */
#ifndef BOBBIN_SYMBOL_CONFINEMENT_H
#define BOBBIN_SYMBOL_CONFINEMENT_H

/* Sanitizers read files for what they report on stderr. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CONFINEMENT_LETS_REPORT 1
#else
#define CONFINEMENT_LETS_REPORT 0
#endif

/* For good; the process must have one thread. */
void confinement_enter(void);

#endif
