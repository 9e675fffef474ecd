/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * refusal.h - the one way in which decoders of the core fail.
 */
#ifndef BOBBIN_CORE_REFUSAL_H
#define BOBBIN_CORE_REFUSAL_H

#include <bobbin/reason.h>

#include "core/deps.h"

/* Say what is wrong and where, and hand on the errno. */
static inline int refuse_as(int error, struct bobbin_error *err, uint64_t offset,
			    enum bobbin_reason reason)
{
	if (err)
		*err = (struct bobbin_error){.offset = offset, .reason = reason};
	return error;
}

static inline int refuse(struct bobbin_error *err, uint64_t offset, enum bobbin_reason reason)
{
	return refuse_as(-BOBBIN_EBADMSG, err, offset, reason);
}

/* Say why a record is refused: the bytes could not be read, or they are wrong. */
static inline int refuse_read(bool fault, struct bobbin_error *err, uint64_t offset,
			      enum bobbin_reason reason)
{
	return fault ? refuse_as(-BOBBIN_EFAULT, err, offset, BOBBIN_REASON_NO_MEMORY)
		     : refuse(err, offset, reason);
}

#endif
