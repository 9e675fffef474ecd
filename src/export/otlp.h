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

#include "export/otlp_resource.h"
#include "export/profile.h"

/*
 * Write a request with these attributes, each of another key.  Samples are told apart by service,
 * container and pod, and get "service.name", "container.id", "k8s.pod.uid" and the profile's "host.name"
 * where none of the attributes is that: the unit of systemd or the name of the process, and what the
 * path of its cgroup says.  0; -ENOMEM; -EFBIG: it would have more than
 * 2 GiB, which no reader takes; errors of @out stay there.
 */
int otlp_write_request(const struct profile *profile, const struct otlp_attribute *attributes,
		       size_t count, FILE *out);

#endif
