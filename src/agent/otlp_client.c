/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/otlp_client.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loaded_library.h"
#include "export/otlp_answer.h"

/* Of an answer, the first bytes are looked at. */
#define BODY_MAX 4096
#define CONNECT_MS 5000L

/* libcurl's, as it names them. */
static struct {
	typeof(curl_global_init) *global_init;
	typeof(curl_easy_init) *init;
	typeof(curl_easy_cleanup) *cleanup;
	typeof(curl_easy_setopt) *setopt;
	typeof(curl_easy_perform) *perform;
	typeof(curl_easy_getinfo) *getinfo;
	typeof(curl_easy_strerror) *text;
	typeof(curl_slist_append) *append;
	typeof(curl_slist_free_all) *free_all;
} library;

struct otlp_client {
	const struct otlp_settings *settings;
	const volatile sig_atomic_t *stop;
	CURL *curl;
	struct curl_slist *headers;
	char error[CURL_ERROR_SIZE];
	uint8_t body[BODY_MAX];
	size_t body_size;
};

static int load_library(void)
{
	static const char *const names[] = {"libcurl-gnutls.so.4", "libcurl.so.4", NULL};
	static const struct library_function functions[] = {
		{"curl_global_init", &library.global_init}, {"curl_easy_init", &library.init},
		{"curl_easy_cleanup", &library.cleanup},    {"curl_easy_setopt", &library.setopt},
		{"curl_easy_perform", &library.perform},    {"curl_easy_getinfo", &library.getinfo},
		{"curl_easy_strerror", &library.text},      {"curl_slist_append", &library.append},
		{"curl_slist_free_all", &library.free_all},
	};
	int r = loaded_library_open(names, functions, sizeof(functions) / sizeof(*functions));

	return r ? r : library.global_init(CURL_GLOBAL_ALL) ? -ENOMEM : 0;
}

static size_t take_body(char *bytes, size_t one, size_t count, void *ctx)
{
	struct otlp_client *c = ctx;
	size_t size = one * count, room = sizeof(c->body) - c->body_size;

	memcpy(c->body + c->body_size, bytes, size < room ? size : room);
	c->body_size += size < room ? size : room;
	return size;
}

static int is_over(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct otlp_client *client = ctx;

	return *client->stop;
}

static int add_header(struct otlp_client *c, const char *key, const char *value)
{
	struct curl_slist *list;
	char *line;

	if (asprintf(&line, "%s: %s", key, value) < 0)
		return -ENOMEM;
	list = library.append(c->headers, line);
	free(line);
	if (!list)
		return -ENOMEM;
	c->headers = list;
	return 0;
}

static int add_headers(struct otlp_client *c)
{
	const struct otlp_pairs *own = &c->settings->headers;
	int r = add_header(c, "Content-Type", "application/x-protobuf");

	if (!r && !c->settings->plain)
		r = add_header(c, "Content-Encoding", "gzip");
	/* a small body is not worth a round trip */
	if (!r)
		r = add_header(c, "Expect", "");
	for (size_t i = 0; i < own->count && !r; i++)
		r = add_header(c, own->list[i].key, own->list[i].value);
	return r;
}

static void set_options(struct otlp_client *c)
{
	const struct otlp_settings *s = c->settings;

	library.setopt(c->curl, CURLOPT_URL, s->url);
	library.setopt(c->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	library.setopt(c->curl, CURLOPT_HTTPHEADER, c->headers);
	library.setopt(c->curl, CURLOPT_USERAGENT, "bobbin/" BOBBIN_VERSION);
	library.setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
	library.setopt(c->curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	library.setopt(c->curl, CURLOPT_TIMEOUT_MS, (long)s->timeout_ms);
	library.setopt(c->curl, CURLOPT_ERRORBUFFER, c->error);
	library.setopt(c->curl, CURLOPT_WRITEFUNCTION, take_body);
	library.setopt(c->curl, CURLOPT_WRITEDATA, c);
	library.setopt(c->curl, CURLOPT_NOPROGRESS, 0L);
	library.setopt(c->curl, CURLOPT_XFERINFOFUNCTION, is_over);
	library.setopt(c->curl, CURLOPT_XFERINFODATA, c);
	if (s->certificate)
		library.setopt(c->curl, CURLOPT_CAINFO, s->certificate);
	if (s->client_certificate)
		library.setopt(c->curl, CURLOPT_SSLCERT, s->client_certificate);
	if (s->client_key)
		library.setopt(c->curl, CURLOPT_SSLKEY, s->client_key);
}

int otlp_client_open(const struct otlp_settings *settings, const volatile sig_atomic_t *stop,
		     struct otlp_client **ret)
{
	struct otlp_client *c;
	int r = load_library();

	if (r)
		return r;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->settings = settings;
	c->stop = stop;
	c->curl = library.init();
	r = c->curl ? add_headers(c) : -ENOMEM;
	if (r) {
		otlp_client_close(c);
		return r;
	}
	set_options(c);
	*ret = c;
	return 0;
}

void otlp_client_close(struct otlp_client *client)
{
	if (!client)
		return;
	library.cleanup(client->curl);
	library.free_all(client->headers);
	free(client);
}

/* By OTLP's specification; other answers say that the request is wrong. */
static bool is_temporary(long status)
{
	return status == 429 || (status >= 502 && status <= 504);
}

static void judge(struct otlp_client *c, struct otlp_answer *ret)
{
	curl_off_t wait = 0;

	library.getinfo(c->curl, CURLINFO_RESPONSE_CODE, &ret->status);
	library.getinfo(c->curl, CURLINFO_RETRY_AFTER, &wait);
	if (ret->status >= 200 && ret->status < 300) {
		ret->outcome = OTLP_ACCEPTED;
		otlp_answer_read(c->body, c->body_size, &ret->rejected, ret->text,
				 sizeof(ret->text));
		return;
	}
	ret->outcome = is_temporary(ret->status) ? OTLP_LATER : OTLP_REFUSED;
	ret->retry_after = ret->outcome == OTLP_LATER && wait > 0 ? (uint64_t)wait : 0;
	snprintf(ret->text, sizeof(ret->text), "HTTP status %ld", ret->status);
}

void otlp_client_post(struct otlp_client *client, const void *bytes, size_t size,
		      struct otlp_answer *ret)
{
	struct otlp_client *c = client;
	CURLcode code;

	*ret = (struct otlp_answer){0};
	c->body_size = 0;
	*c->error = '\0';
	library.setopt(c->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
	library.setopt(c->curl, CURLOPT_POSTFIELDS, bytes);
	code = library.perform(c->curl);
	if (code == CURLE_OK) {
		judge(c, ret);
		return;
	}
	ret->outcome = OTLP_LATER;
	snprintf(ret->text, sizeof(ret->text), "%s", *c->error ? c->error : library.text(code));
}
