/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/event_name.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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

static const char *find(const char *const *names, size_t count, uint64_t number)
{
	return number < count ? names[number] : NULL;
}

static const char *known_name(const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_HARDWARE)
		return find(hardware, sizeof(hardware) / sizeof(*hardware), attr->config);
	if (attr->type == PERF_TYPE_SOFTWARE)
		return find(software, sizeof(software) / sizeof(*software), attr->config);
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
	const char *kind = find(kinds, sizeof(kinds) / sizeof(*kinds), attr->type);
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
