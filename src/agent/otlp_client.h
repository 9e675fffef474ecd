/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * otlp_client.h - requests of OpenTelemetry's protocol to a server, over HTTP.
 */
#ifndef BOBBIN_AGENT_OTLP_CLIENT_H
#define BOBBIN_AGENT_OTLP_CLIENT_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/otlp_settings.h"

struct otlp_client;

/* What became of a request. */
enum otlp_outcome {
	OTLP_ACCEPTED,
	OTLP_LATER,   /* the same request may be accepted later */
	OTLP_REFUSED, /* it never will be */
};

#define OTLP_ANSWER_TEXT 256

/**
 * struct otlp_answer - the answer
 * @status: of HTTP; 0: there was none
 * @retry_after: seconds in which nothing is to be sent, which the server asks for; or 0
 * @rejected: profiles that an accepted request had and the server did not take
 * @text: why it was not accepted, for people
 */
struct otlp_answer {
	enum otlp_outcome outcome;
	long status;
	uint64_t retry_after, rejected;
	char text[OTLP_ANSWER_TEXT];
};

/*
 * @settings: with an URL, as long as the client.  @stop: a request ends when it is not 0.  Not in
 * several threads at a time.  0; -ELIBACC: libcurl is not here; -ENOMEM.
 */
int otlp_client_open(const struct otlp_settings *settings, const volatile sig_atomic_t *stop,
		     struct otlp_client **ret);
void otlp_client_close(struct otlp_client *client); /* NULL is fine */

/* Send the bytes of a request, which are compressed by gzip unless the settings say otherwise. */
void otlp_client_post(struct otlp_client *client, const void *bytes, size_t size,
		      struct otlp_answer *ret);

#endif
