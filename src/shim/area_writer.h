/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * area_writer.h - how a process that is sampled from inside fills slots of the recorder's area.
 *
 * All but area_writer_open() is async-signal-safe, takes no lock but area_tell_changes(), and leaves
 * errno alone.
 */
#ifndef BOBBIN_SHIM_AREA_WRITER_H
#define BOBBIN_SHIM_AREA_WRITER_H

#include "base/sample_area.h"

/*
 * Map the area that the environment names.  NULL: it names none, or this process cannot have it:
 * the recorder has gone, is another user's, or is outside of the namespace of process numbers.
 */
struct sample_area *area_writer_open(void);

/* The numbers of the calling thread and its process. */
uint32_t own_tid(void);
uint32_t own_pid(void);

/*
 * A slot with its first members but for those of a fork, or NULL: all that were looked at are in
 * use, or no samples are wanted.
 */
struct sample_slot *area_claim(struct sample_area *area, enum sample_slot_kind kind);
void area_publish(struct sample_area *area, struct sample_slot *slot);

/* Tell what is mapped now.  When that was, in nanoseconds, or 0: there was no slot. */
uint64_t area_tell_maps(struct sample_area *area);

/*
 * Tell what is mapped if libraries have come or gone since that was told.  The C library's lock of their
 * list is taken, under which others may take any: not in signal handlers.
 */
void area_tell_changes(struct sample_area *area);

/* Tell of the calling process: that its program begins, or that it was forked by @parent. */
void area_tell_start(struct sample_area *area);
void area_tell_fork(struct sample_area *area, uint32_t parent, uint32_t parent_thread);

/*
 * Fill a slot of a sample, which has the registers already, with the stack from the stack pointer on,
 * the PC, and the stack that was left for this one.
 */
void area_put_stack(const struct sample_area *area, struct sample_slot *slot,
		    const struct bobbin_regs *regs);

/* As area_claim(), but wait a little for a slot.  Not in signal handlers. */
struct sample_slot *area_claim_patiently(struct sample_area *area, enum sample_slot_kind kind);

#endif
