/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/event_identity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct owned_id *event_ids_find(const struct event_ids *ids, uint64_t id)
{
	size_t at = 0;
	uint32_t i;

	while (hash_index_next(&ids->index, hash_words(id, 0, ids->seed), &at, &i))
		if (ids->ids[i].id == id)
			return &ids->ids[i];
	return NULL;
}

int event_ids_add(struct event_ids *ids, uint64_t id, uint32_t attr)
{
	struct owned_id *known = event_ids_find(ids, id), own = {id, attr};

	if (known) {
		*known = own;
		return 0;
	}
	return hash_index_push(&ids->index, hash_words(id, 0, ids->seed), ids->ids, ids->count,
			       ids->room, own)
		       ? -ENOMEM
		       : 0;
}

void event_ids_fini(struct event_ids *ids)
{
	free(ids->ids);
	hash_index_fini(&ids->index);
	*ids = (struct event_ids){.seed = ids->seed};
}

/* enum perf_hw_id */
static const char *const hardware[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

/* enum perf_sw_ids */
static const char *const software[] = {
	"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
};

static const char *nth_name(const char *const *names, size_t count, uint64_t number)
{
	return number < count ? names[number] : NULL;
}

static const char *known_name(const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_HARDWARE)
		return nth_name(hardware, sizeof(hardware) / sizeof(*hardware), attr->config);
	if (attr->type == PERF_TYPE_SOFTWARE)
		return nth_name(software, sizeof(software) / sizeof(*software), attr->config);
	return NULL;
}

/* Of which part alone. */
static const char *modifier(const struct perf_event_attr *attr)
{
	if (attr->exclude_kernel == attr->exclude_user)
		return "";
	return attr->exclude_kernel ? ":u" : ":k";
}

void event_name_of(const struct perf_event_attr *attr, char name[EVENT_NAME_SIZE])
{
	static const char *const kinds[] = {"hardware", "software", "tracepoint",
					    "cache",    "raw",      "breakpoint"};
	const char *known = known_name(attr);
	const char *kind = nth_name(kinds, sizeof(kinds) / sizeof(*kinds), attr->type);
	uint64_t number = attr->type == PERF_TYPE_BREAKPOINT ? attr->bp_addr : attr->config;

	if (known)
		snprintf(name, EVENT_NAME_SIZE, "%s%s", known, modifier(attr));
	else if (attr->type == PERF_TYPE_TRACEPOINT)
		snprintf(name, EVENT_NAME_SIZE, "%s:%" PRIu64, kind, number);
	else if (kind)
		snprintf(name, EVENT_NAME_SIZE, "%s:0x%" PRIx64 "%s", kind, number, modifier(attr));
	else
		snprintf(name, EVENT_NAME_SIZE, "type-%" PRIu32 ":0x%" PRIx64 "%s", attr->type,
			 number, modifier(attr));
}
