/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/agent_metrics.h"

static void metric(FILE *out, const char *name, const char *type, const char *help, double value)
{
	fprintf(out, "# HELP bobbin_%s %s\n# TYPE bobbin_%s %s\nbobbin_%s %.17g\n", name, help,
		name, type, name, value);
}

static void write_recorder(const struct agent_counts *c, FILE *out)
{
	const struct recorder_stats *r = &c->recorder;

	metric(out, "samples_total", "counter", "Samples taken.", (double)r->samples);
	metric(out, "user_stacks_total", "counter", "Samples with a user stack.", (double)r->user);
	metric(out, "complete_stacks_total", "counter", "User stacks walked to the first function.",
	       (double)r->reasons[BOBBIN_REASON_OUTERMOST]);
	metric(out, "kernel_walks_total", "counter", "User stacks walked in the kernel.",
	       (double)r->walked);
	metric(out, "lost_records_total", "counter", "Records that the kernel had no room for.",
	       (double)r->lost);
	metric(out, "broken_records_total", "counter", "Records that could not be used.",
	       (double)r->broken);
	metric(out, "sample_rate_hertz", "gauge", "Samples per second and CPU.",
	       c->budget.frequency);
	metric(out, "cpu_seconds_total", "counter", "CPU time used by the agent.",
	       (double)c->usage.cpu_ns / 1e9);
	metric(out, "cpu_ratio", "gauge", "Processors used by the agent in the last half minute.",
	       c->budget.used / 100);
	metric(out, "resident_bytes", "gauge", "Memory of the agent.", (double)c->usage.resident);
	metric(out, "open_files", "gauge", "Open files of the agent.", (double)c->usage.files);
	metric(out, "restarts_total", "counter", "New recorders, after too many files.",
	       (double)c->restarts);
}

static void write_folder(const struct agent_counts *c, const struct window_folder_stats *f,
			 FILE *out)
{
	metric(out, "recordings_total", "counter", "Recordings written.", (double)c->windows);
	metric(out, "recorded_samples_total", "counter", "Samples in recordings.",
	       (double)c->samples);
	metric(out, "recordings_failed_total", "counter",
	       "Recordings that could not be written in whole.", (double)c->failed);
	metric(out, "unrecorded_samples_total", "counter",
	       "Samples that could not be written, as on a full disk.", (double)c->dropped_samples);
	metric(out, "kept_recordings", "gauge", "Recordings in the folder.", (double)f->windows);
	metric(out, "kept_bytes", "gauge", "Size of the folder's recordings.", (double)f->bytes);
	metric(out, "unsent_recordings", "gauge", "Recordings that wait to be sent.",
	       (double)f->unsent);
	metric(out, "unsent_samples", "gauge", "Samples that wait to be sent.",
	       (double)f->unsent_samples);
	metric(out, "dropped_samples_total", "counter",
	       "Samples that were removed before they were sent, for want of room.",
	       (double)f->dropped_samples);
}

static void write_sender(const struct window_sender_stats *s, FILE *out)
{
	metric(out, "sent_recordings_total", "counter", "Recordings that the server has accepted.",
	       (double)s->windows);
	metric(out, "sent_samples_total", "counter", "Samples that the server has accepted.",
	       (double)s->samples);
	metric(out, "refused_samples_total", "counter", "Samples that the server has refused.",
	       (double)s->refused_samples);
	metric(out, "rejected_profiles_total", "counter",
	       "Profiles of accepted requests that the server did not take.", (double)s->rejected);
	metric(out, "send_failures_total", "counter", "Requests to be sent again.",
	       (double)s->failures);
}

void agent_metrics_write(const struct agent_counts *counts,
			 const struct window_folder_stats *folder,
			 const struct window_sender_stats *sender, FILE *out)
{
	write_recorder(counts, out);
	write_folder(counts, folder, out);
	write_sender(sender, out);
}
