/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reader_epochs.h - whether readers may still use memory that a writer wants to free.
 *
 *	reader				writer
 *	token = read_enter(r);		take it out of the structure
 *	look					read_wait(r);
 *	read_leave(r, token);		free it
 *
 * Sleepable RCU, after P. McKenney: a reader counts itself in and out, in a slot
 * of the CPU that it runs on, under the phase that it found.  A writer waits until
 * as many have left the old phase as have entered it.  Readers are wait-free, may
 * be signal handlers, nest, and need no registration; nothing but counters of the
 * own CPU is written.
 */
#ifndef BOBBIN_CODEMAP_READER_EPOCHS_H
#define BOBBIN_CODEMAP_READER_EPOCHS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define READ_SLOTS 64 /* CPUs beyond share slots */

struct read_slot {
	/* a line of its own, and the next one, which is fetched along */
	_Alignas(128) atomic_ulong entered[2];
	atomic_ulong left[2];
};

struct reader_epochs {
	struct read_slot slots[READ_SLOTS];
	_Alignas(128) atomic_uint phase;
	unsigned int count; /* of slots in use */
};

/* How far a wait without blocking has come; zero: at its start. */
struct read_grace {
	bool flipped;
};

void reader_epochs_init(struct reader_epochs *r);

unsigned int read_enter(struct reader_epochs *r);
void read_leave(struct reader_epochs *r, unsigned int token);

/*
 * Go on waiting, for readers that entered before the first call with @grace; true:
 * they have left.  One writer at a time.
 */
bool read_grace_over(struct reader_epochs *r, struct read_grace *grace);

/* Wait for all readers that entered before.  Not from inside a section. */
void read_wait(struct reader_epochs *r);

/* In a forked child: the other threads do not exist, so nobody reads. */
void read_forget(struct reader_epochs *r);

#endif
