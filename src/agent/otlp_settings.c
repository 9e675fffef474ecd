/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/otlp_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GENERAL "OTEL_EXPORTER_OTLP_"
#define OF_PROFILES "OTEL_EXPORTER_OTLP_PROFILES_"
#define PATH "v1development/profiles"
#define TIMEOUT_MS 10000
#define TIMEOUT_MOST_MS 600000

static const char *value_of(const char *prefix, const char *name, struct otlp_settings_fault *fault)
{
	const char *value;

	snprintf(fault->variable, sizeof(fault->variable), "%s%s", prefix, name);
	value = getenv(fault->variable);
	return value && *value ? value : NULL;
}

/* An empty one is as good as none.  The variable's name stays in @fault. */
static const char *setting(const char *name, struct otlp_settings_fault *fault)
{
	const char *value = value_of(OF_PROFILES, name, fault);

	return value ? value : value_of(GENERAL, name, fault);
}

static int refuse(struct otlp_settings_fault *fault, const char *reason)
{
	fault->reason = reason;
	return -EINVAL;
}

static int digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* In place.  false: a percent sign has no two digits, or they are those of a control character. */
static bool decode(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		unsigned char c = (unsigned char)*from;

		if (c == '%') {
			int high = digit(from[1]), low = high < 0 ? -1 : digit(from[2]);

			if (low < 0)
				return false;
			c = (unsigned char)(high << 4 | low);
			from += 2;
		}
		if (c < ' ' || c == 0x7f)
			return false;
		*to++ = (char)c;
	}
	*to = '\0';
	return true;
}

/* The text without blanks at its ends. */
static char *trimmed(const char *text, size_t length)
{
	while (length && (*text == ' ' || *text == '\t')) {
		text++;
		length--;
	}
	while (length && (text[length - 1] == ' ' || text[length - 1] == '\t'))
		length--;
	return strndup(text, length);
}

static struct otlp_pair *find(struct otlp_pairs *pairs, const char *key)
{
	for (size_t i = 0; i < pairs->count; i++)
		if (!strcmp(pairs->list[i].key, key))
			return &pairs->list[i];
	return NULL;
}

/* Both are taken over.  The last of equal keys counts. */
static int put(struct otlp_pairs *pairs, char *key, char *value)
{
	struct otlp_pair *known = key && value ? find(pairs, key) : NULL;

	if (known) {
		free(known->value);
		known->value = value;
		free(key);
		return 0;
	}
	if (key && value && pairs->count < OTLP_PAIRS_MAX) {
		pairs->list[pairs->count++] = (struct otlp_pair){key, value};
		return 0;
	}
	free(key);
	free(value);
	return key && value ? -EINVAL : -ENOMEM;
}

static int read_pairs(const char *text, struct otlp_pairs *ret, struct otlp_settings_fault *fault)
{
	while (text && *text) {
		const size_t length = strcspn(text, ","), middle = strcspn(text, "=,");
		const char *rest = text + middle + 1;
		char *key, *value;
		int r;

		if (middle >= length || !middle)
			return refuse(fault, "is no list of KEY=VALUE");
		key = trimmed(text, middle);
		value = trimmed(rest, length - middle - 1);
		if ((key && (!decode(key) || !*key)) || (value && !decode(value))) {
			free(key);
			free(value);
			return refuse(fault, "has a key or a value that is no text");
		}
		r = put(ret, key, value);
		if (r)
			return r == -EINVAL ? refuse(fault, "has too many entries") : r;
		text += length + (text[length] == ',');
	}
	return 0;
}

static int read_attributes(struct otlp_settings *ret, struct otlp_settings_fault *fault)
{
	int r = read_pairs(value_of("OTEL_", "RESOURCE_ATTRIBUTES", fault), &ret->attributes,
			   fault);
	const char *service = r ? NULL : value_of("OTEL_", "SERVICE_NAME", fault);

	return r || !service ? r : put(&ret->attributes, strdup("service.name"), strdup(service));
}

/* That of everything gets the path of profiles. */
static int read_url(const char *given, struct otlp_settings *ret, struct otlp_settings_fault *fault)
{
	const char *own = given ? given : value_of(OF_PROFILES, "ENDPOINT", fault);
	const char *url = own ? own : value_of(GENERAL, "ENDPOINT", fault);

	if (!url)
		return 0;
	if (given)
		snprintf(fault->variable, sizeof(fault->variable), "--otlp");
	if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
		return refuse(fault, "is no URL of http:// or https://");
	if (own)
		ret->url = strdup(own);
	else if (asprintf(&ret->url, "%s%s" PATH, url, url[strlen(url) - 1] == '/' ? "" : "/") < 0)
		ret->url = NULL;
	return ret->url ? 0 : -ENOMEM;
}

static int read_timeout(struct otlp_settings *ret, struct otlp_settings_fault *fault)
{
	const char *text = setting("TIMEOUT", fault);
	char *end;

	ret->timeout_ms = TIMEOUT_MS;
	if (!text)
		return 0;
	ret->timeout_ms = strtoull(text, &end, 10);
	if (*end || *text < '0' || *text > '9' || !ret->timeout_ms ||
	    ret->timeout_ms > TIMEOUT_MOST_MS)
		return refuse(fault, "is no number of milliseconds from 1 to 600000");
	return 0;
}

static int read_forms(struct otlp_settings *ret, struct otlp_settings_fault *fault)
{
	const char *text = setting("COMPRESSION", fault);

	ret->plain = text && !strcmp(text, "none");
	if (text && !ret->plain && strcmp(text, "gzip") != 0)
		return refuse(fault, "is neither gzip nor none");
	text = setting("PROTOCOL", fault);
	if (text && strcmp(text, "http/protobuf") != 0)
		return refuse(fault, "is not http/protobuf, which is all that can be sent");
	return 0;
}

static int read_all(const char *url, struct otlp_settings *ret, struct otlp_settings_fault *fault)
{
	int r;

	ret->certificate = setting("CERTIFICATE", fault);
	ret->client_certificate = setting("CLIENT_CERTIFICATE", fault);
	ret->client_key = setting("CLIENT_KEY", fault);
	r = read_url(url, ret, fault);
	if (!r)
		r = read_attributes(ret, fault);
	if (!r)
		r = read_pairs(setting("HEADERS", fault), &ret->headers, fault);
	if (!r)
		r = read_timeout(ret, fault);
	if (!r)
		r = read_forms(ret, fault);
	return r;
}

int otlp_settings_read(const char *url, struct otlp_settings *ret,
		       struct otlp_settings_fault *fault)
{
	int r;

	*ret = (struct otlp_settings){0};
	r = read_all(url, ret, fault);
	if (r)
		otlp_settings_fini(ret);
	return r;
}

static void free_pairs(struct otlp_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++) {
		free(pairs->list[i].key);
		free(pairs->list[i].value);
	}
	pairs->count = 0;
}

void otlp_settings_fini(struct otlp_settings *settings)
{
	free(settings->url);
	settings->url = NULL;
	free_pairs(&settings->headers);
	free_pairs(&settings->attributes);
}
