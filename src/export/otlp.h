/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * otlp.h - a profile as a request of OpenTelemetry's protocol.
 *
 * These bytes are what a collector is sent: by HTTP, as "application/x-protobuf", and through
 * gzip_stream() with the content encoding "gzip"; by gRPC, as one message.  open_memstream() makes
 * a buffer of them.
 */
#ifndef BOBBIN_EXPORT_OTLP_H
#define BOBBIN_EXPORT_OTLP_H

#include <stddef.h>
#include <stdio.h>

#include "export/profile.h"

/* What is said of all that was profiled: "service.name", "container.id", "host.name" … */
struct otlp_attribute {
	const char *key, *value;
};

/*
 * Write a request with these attributes, each of another key.  Where none is "service.name", the
 * service is unknown; the profile's host is added.  0; -ENOMEM; -EFBIG: it would have more than
 * 2 GiB, which no reader takes; errors of @out stay there.
 */
int otlp_write_request(const struct profile *profile, const struct otlp_attribute *attributes,
		       size_t count, FILE *out);

#endif
