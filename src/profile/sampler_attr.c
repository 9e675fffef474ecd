/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The attributes of a sampler's events. */
#include <errno.h>
#include <time.h>

#include "profile/perf_format.h"
#include "profile/sampler.h"

struct perf_event_attr sampler_attr_of(const struct sampler_options *options,
				       const struct sampler_event *event)
{
	struct perf_event_attr attr = {
		.type = event->name ? event->type : PERF_TYPE_HARDWARE,
		.config = event->name ? event->config : PERF_COUNT_HW_CPU_CYCLES,
		.config1 = event->by_program ? 0 : event->config1,
		.config2 = event->by_program ? 0 : event->config2,
		.size = sizeof(struct perf_event_attr),
		.freq = !event->period,
		.sample_freq = event->period ? event->period : options->frequency,
		.exclude_user = event->exclude_user,
		.exclude_kernel = event->exclude_kernel,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.sample_regs_user = options->regs_mask,
		.sample_stack_user = options->stack_bytes,
		.sample_id_all = 1,
		.inherit = !options->no_inherit && !event->of_all,
		.disabled = options->enable_on_exec && !event->of_all,
		.enable_on_exec = options->enable_on_exec && !event->of_all,
		.exclude_hv = 1,
		/* a CPU that has nothing to do makes no cycles either */
		.exclude_idle = event->name && event->type == PERF_TYPE_SOFTWARE &&
				event->config <= PERF_COUNT_SW_TASK_CLOCK,
		.mmap = 1,
		.mmap2 = 1,
		.build_id = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.ksymbol = 1,
		.watermark = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	if (event->by_program) {
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_BPF_OUTPUT;
	}
	if (options->raw)
		attr.sample_type |= PERF_SAMPLE_RAW;
	if (!options->defer)
		return attr;
	attr.sample_type &= ~(uint64_t)(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	attr.sample_regs_user = 0;
	attr.sample_stack_user = 0;
	perf_attr_flag(&attr, PERF_FILE_DEFER_CALLCHAIN, true);
	perf_attr_flag(&attr, PERF_FILE_DEFER_OUTPUT, true);
	return attr;
}

void sampler_attr_tell_nothing(struct perf_event_attr *attr)
{
	attr->mmap = attr->mmap2 = attr->build_id = 0;
	attr->comm = attr->comm_exec = attr->task = attr->ksymbol = 0;
	perf_attr_flag(attr, PERF_FILE_DEFER_OUTPUT, false);
}

struct perf_event_attr sampler_attr_of_teller(const struct perf_event_attr *attr,
					      const struct sampler_options *options)
{
	struct perf_event_attr teller = *attr;

	teller.type = PERF_TYPE_SOFTWARE;
	teller.config = PERF_COUNT_SW_DUMMY;
	teller.config1 = teller.config2 = 0;
	teller.freq = 0;
	teller.sample_period = 1;
	teller.exclude_user = 0;
	teller.exclude_kernel = 1;
	teller.inherit = !options->no_inherit;
	teller.disabled = teller.enable_on_exec = options->enable_on_exec;
	return teller;
}

/* Whether an event of the user's code is left where the kernel's is not allowed. */
static bool has_user_part(const struct perf_event_attr *attr, const struct sampler_event *event)
{
	return !attr->exclude_kernel && !attr->exclude_user && attr->type != PERF_TYPE_TRACEPOINT &&
	       !event->of_all;
}

bool sampler_attr_relax(struct perf_event_attr *attr, const struct sampler_event *event, int error)
{
	bool hardware = !event->name && attr->type == PERF_TYPE_HARDWARE;

	if (error == -EACCES || error == -EPERM) {
		if (!has_user_part(attr, event))
			return false;
		attr->exclude_kernel = 1;
		return true;
	}
	/* virtual machines and containers have no counters */
	if (hardware && (error == -ENOENT || error == -EOPNOTSUPP || error == -ENODEV)) {
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
		/* a CPU that has nothing to do makes no cycles either */
		attr->exclude_idle = 1;
		return true;
	}
	/* build_id: Linux 5.12 */
	if (error == -EINVAL && attr->build_id) {
		attr->build_id = 0;
		return true;
	}
	/* Linux 5.1 */
	if (error == -EINVAL && attr->ksymbol) {
		attr->ksymbol = 0;
		return true;
	}
	return false;
}
