/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tracepoint.h - events of the kernel by their names, as tracefs describes them.
 *
 *	"sched:sched_switch" ──► perf_event_attr.config, places of fields in raw bytes
 *
 * Where nobody has mounted tracefs, it is mounted where only the caller sees it.
 */
#ifndef BOBBIN_PROFILE_TRACEPOINT_H
#define BOBBIN_PROFILE_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A descriptor of tracefs's folder, for openat(2); -ENODEV, -EACCES, -EPERM, as below. */
int tracepoint_folder(void);

/* A field of the bytes that a sample of PERF_SAMPLE_RAW has; the caller sets @name. */
struct tracepoint_field {
	const char *name;
	uint32_t offset, size; /* bytes */
	bool is_signed;
};

/*
 * Look up SYSTEM:NAME and the @count fields, which are all wanted.  0; -EINVAL: no such form of a
 * name; -ENOENT: no such tracepoint; -ENODATA: it lacks a field; -ENODEV: this kernel has no
 * tracefs; -EACCES, -EPERM: not allowed to see it; -EBADMSG: its description makes no sense.
 */
int tracepoint_find(const char *name, struct tracepoint_field *fields, size_t count, uint64_t *id);

/* What to say of such an error, in @room. */
const char *tracepoint_error(int error, const char *name, char *room, size_t size);

/* The same from the text of a file "format". */
int tracepoint_parse(const char *text, struct tracepoint_field *fields, size_t count, uint64_t *id);

/* A number out of a sample's raw bytes; false: it is none, or the bytes end before it. */
bool tracepoint_number(const struct tracepoint_field *field, const void *raw, size_t size,
		       int64_t *ret);

#endif
