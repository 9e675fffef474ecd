/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * agent_metrics.h - what an agent counts, as Prometheus reads it.
 */
#ifndef BOBBIN_CLI_AGENT_METRICS_H
#define BOBBIN_CLI_AGENT_METRICS_H

#include <stdio.h>

#include "agent/cpu_budget.h"
#include "agent/own_usage.h"
#include "agent/window_folder.h"
#include "cli/window_sender.h"
#include "profile/recorder.h"

/**
 * struct agent_counts - of recordings that were written
 * @dropped_samples: that are in none, since it could not be written
 */
struct agent_counts {
	uint64_t windows, failed, samples, dropped_samples, restarts;
	struct recorder_stats recorder;
	struct cpu_budget budget;
	struct own_usage usage;
};

/* All of them; bobbin-agent(1) explains each. */
void agent_metrics_write(const struct agent_counts *counts,
			 const struct window_folder_stats *folder,
			 const struct window_sender_stats *sender, FILE *out);

#endif
