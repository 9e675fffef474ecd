/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/sample_owner.h"

#include "profile/perf_event.h"

bool sample_owner_doubts(const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_SOFTWARE)
		return attr->config > PERF_COUNT_SW_TASK_CLOCK &&
		       attr->config != PERF_COUNT_SW_BPF_OUTPUT;
	return attr->type == PERF_TYPE_TRACEPOINT || attr->type >= PERF_TYPE_MAX;
}

void sample_owner_may_be(struct sample_owner *owner, const struct perf_event_attr *attr,
			 uint64_t id, const struct perf_event_header *record)
{
	if (!sample_owner_doubts(attr) || !perf_event_fits(attr, record, record->size))
		return;
	owner->attr = attr;
	owner->id = id;
	owner->count++;
}
