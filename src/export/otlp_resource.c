/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/otlp_resource.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/cgroup_path.h"

bool otlp_has_attribute(const struct otlp_attribute *attributes, size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(attributes[i].key, key))
			return true;
	return false;
}

/*
 * Of a process that no unit tells the service of, its name.  Threads of the kernel have after a
 * slash which one of many they are: "kworker/0:1-events".
 */
static int name_service(struct otlp_resources *resources, const struct profile_thread *thread,
			const char **ret)
{
	const char *comm = *thread->process ? thread->process : thread->comm;
	const size_t length = strcspn(comm, "/");
	char name[CGROUP_UNIT_SIZE];

	if (!*comm)
		return name_pool_intern(&resources->names, "unknown_service", ret);
	if (!length || length >= sizeof(name))
		return name_pool_intern(&resources->names, comm, ret);
	memcpy(name, comm, length);
	name[length] = '\0';
	return name_pool_intern(&resources->names, name, ret);
}

static int find_service(struct otlp_resources *resources, const struct profile_thread *thread,
			const char **ret)
{
	char unit[CGROUP_UNIT_SIZE];

	if (cgroup_unit(thread->cgroup, unit))
		return name_pool_intern(&resources->names, unit, ret);
	return name_service(resources, thread, ret);
}

/* What is told of the thread, but for what all have: @common has that, which is not NULL. */
static int describe(struct otlp_resources *resources, const struct profile_thread *thread,
		    const struct otlp_resource *common, struct otlp_resource *ret)
{
	char container[CGROUP_CONTAINER_SIZE], pod[CGROUP_POD_SIZE];
	int r = 0;

	*ret = (struct otlp_resource){0};
	if (!common->service)
		r = find_service(resources, thread, &ret->service);
	if (!r && !common->container && cgroup_container(thread->cgroup, container))
		r = name_pool_intern(&resources->names, container, &ret->container);
	if (!r && !common->pod && cgroup_pod(thread->cgroup, pod))
		r = name_pool_intern(&resources->names, pod, &ret->pod);
	return r;
}

static bool same(const struct otlp_resource *a, const struct otlp_resource *b)
{
	return a->service == b->service && a->container == b->container && a->pod == b->pod;
}

/* Its number; strings of it are equal if their pointers are. */
static int find(struct otlp_resources *resources, const struct otlp_resource *wanted, uint32_t *ret)
{
	const uint64_t hash = hash_words((uintptr_t)wanted->service,
					 (uintptr_t)wanted->container ^ (uintptr_t)wanted->pod,
					 resources->names.seed);
	size_t at = 0;
	int r;

	while (hash_index_next(&resources->index, hash, &at, ret))
		if (same(&resources->list[*ret], wanted))
			return 0;
	r = hash_index_push(&resources->index, hash, resources->list, resources->count,
			    resources->room, *wanted);
	if (!r)
		*ret = (uint32_t)resources->count - 1;
	return r;
}

static const char *common_of(const struct otlp_attribute *attributes, size_t count, const char *key)
{
	return otlp_has_attribute(attributes, count, key) ? key : NULL;
}

/* Without samples there is one all the same, of nobody. */
static int add_none(struct otlp_resources *resources, const struct otlp_resource *common)
{
	static const struct profile_thread none = {.comm = "", .cgroup = "", .process = ""};
	struct otlp_resource resource;
	uint32_t number;
	int r = describe(resources, &none, common, &resource);

	return r ? r : find(resources, &resource, &number);
}

int otlp_resources_init(struct otlp_resources *resources, const struct profile *profile,
			const struct otlp_attribute *attributes, size_t count)
{
	const struct otlp_resource common = {
		.service = common_of(attributes, count, OTLP_SERVICE),
		.container = common_of(attributes, count, OTLP_CONTAINER),
		.pod = common_of(attributes, count, OTLP_POD),
	};
	struct otlp_resource resource;
	int r;

	*resources = (struct otlp_resources){0};
	name_pool_init(&resources->names);
	resources->of_threads = calloc(profile->thread_count + 1, sizeof(*resources->of_threads));
	r = resources->of_threads ? 0 : -ENOMEM;
	for (size_t i = 0; i < profile->thread_count && !r; i++) {
		if (!profile->threads[i].samples)
			continue;
		r = describe(resources, &profile->threads[i], &common, &resource);
		if (!r)
			r = find(resources, &resource, &resources->of_threads[i]);
	}
	return r || resources->count ? r : add_none(resources, &common);
}

void otlp_resources_fini(struct otlp_resources *resources)
{
	name_pool_fini(&resources->names);
	hash_index_fini(&resources->index);
	free(resources->list);
	free(resources->of_threads);
}
