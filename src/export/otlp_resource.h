/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * otlp_resource.h - whose samples a request of OpenTelemetry's protocol tells apart.
 *
 *	cgroup, name of the process ──► service, container, pod ──► one resource for all that has the same
 */
#ifndef BOBBIN_EXPORT_OTLP_RESOURCE_H
#define BOBBIN_EXPORT_OTLP_RESOURCE_H

#include "base/hash_index.h"
#include "base/name_pool.h"
#include "export/profile.h"

#define OTLP_SERVICE "service.name"
#define OTLP_HOST "host.name"
#define OTLP_CONTAINER "container.id"
#define OTLP_POD "k8s.pod.uid"

/* What is said of all that was profiled: "service.name", "container.id", "host.name" … */
struct otlp_attribute {
	const char *key, *value;
};

/* Whether the key is one of these attributes'. */
bool otlp_has_attribute(const struct otlp_attribute *attributes, size_t count, const char *key);

/**
 * struct otlp_resource - a resource; NULL: it has no such attribute, or all have the same
 * @service: a unit of systemd, or the name of the processes
 * @container, @pod: IDs
 */
struct otlp_resource {
	const char *service, *container, *pod;
};

/**
 * struct otlp_resources - those of a profile, one at least
 * @of_threads: the number of each thread's; threads without samples have any
 */
struct otlp_resources {
	struct otlp_resource *list;
	size_t count, room;
	uint32_t *of_threads;
	struct hash_index index;
	struct name_pool names;
};

/* What is among these attributes is no difference.  0 or -ENOMEM; otlp_resources_fini() follows. */
int otlp_resources_init(struct otlp_resources *resources, const struct profile *profile,
			const struct otlp_attribute *attributes, size_t count);
void otlp_resources_fini(struct otlp_resources *resources);

#endif
