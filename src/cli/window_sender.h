/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * window_sender.h - from recordings of an agent's folder to a server, in a thread.
 *
 *	window_folder ──► session ──► profile ──► request ──► otlp_client
 *
 * One after the other, the oldest first.  A server that cannot take a request is asked again, after
 * the time that it names, or after longer and longer times; what it refuses is counted and given up.
 */
#ifndef BOBBIN_CLI_WINDOW_SENDER_H
#define BOBBIN_CLI_WINDOW_SENDER_H

#include <stdint.h>

#include "agent/otlp_settings.h"
#include "agent/window_folder.h"

struct arguments;
struct window_sender;

/* @arguments: how recordings are read.  All of them live as long as the sender. */
struct window_sender_options {
	struct window_folder *folder;
	const struct otlp_settings *settings;
	const struct arguments *arguments;
};

/**
 * struct window_sender_stats - what became of recordings
 * @windows, @samples: that were accepted
 * @refused, @refused_samples: that never will be, or could not be read
 * @failures: requests that are, or were, to be sent again
 * @rejected: profiles of accepted requests that the server did not take
 */
struct window_sender_stats {
	uint64_t windows, samples, refused, refused_samples, failures, rejected;
};

/* 0 or a negative errno. */
int window_sender_open(const struct window_sender_options *options, struct window_sender **ret);

/* There is something new in the folder. */
void window_sender_wake(struct window_sender *sender);

void window_sender_stats(struct window_sender *sender, struct window_sender_stats *ret);

/* Send what there is, for so many milliseconds at most and up to the first failure, and end. */
void window_sender_close(struct window_sender *sender, uint64_t ms); /* NULL is fine */

#endif
