/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * otlp_settings.h - where and how profiles are sent, by OpenTelemetry's environment variables.
 *
 * Those of https://opentelemetry.io/docs/specs/otel/protocol/exporter/, with OTEL_EXPORTER_OTLP_ and,
 * which counts more, OTEL_EXPORTER_OTLP_PROFILES_ before ENDPOINT, HEADERS, COMPRESSION, TIMEOUT,
 * PROTOCOL, CERTIFICATE, CLIENT_CERTIFICATE and CLIENT_KEY; and OTEL_RESOURCE_ATTRIBUTES and
 * OTEL_SERVICE_NAME.
 */
#ifndef BOBBIN_AGENT_OTLP_SETTINGS_H
#define BOBBIN_AGENT_OTLP_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a list "key=value,key=value" has; percent signs in values are decoded. */
struct otlp_pair {
	char *key, *value;
};

#define OTLP_PAIRS_MAX 64

struct otlp_pairs {
	struct otlp_pair list[OTLP_PAIRS_MAX];
	size_t count;
};

/**
 * struct otlp_settings - of all requests
 * @url: where they are sent, or NULL: nowhere
 * @headers: of HTTP
 * @attributes: of what is profiled
 * @plain: they are not compressed
 * @timeout_ms: of a request, until its answer
 * @certificate: of who signs servers' certificates, or NULL
 * @client_certificate, @client_key: our own, or NULL
 */
struct otlp_settings {
	char *url;
	struct otlp_pairs headers, attributes;
	bool plain;
	uint64_t timeout_ms;
	const char *certificate, *client_certificate, *client_key;
};

/* What is wrong with a variable; points to constants. */
struct otlp_settings_fault {
	char variable[64];
	const char *reason;
};

/*
 * Read the environment; @url: of a command line, or NULL, is used as it is and counts more.  What
 * an environment has stays borrowed.  0; -EINVAL with @fault; -ENOMEM.
 */
int otlp_settings_read(const char *url, struct otlp_settings *ret,
		       struct otlp_settings_fault *fault);
void otlp_settings_fini(struct otlp_settings *settings);

#endif
