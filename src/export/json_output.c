/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/json_output.h"

#include <inttypes.h>

#include "export/safe_text.h"

#define REPLACEMENT 0xfffd
#define NS_PER_MS 1000000

static void put_escape(FILE *out, int32_t c)
{
	fprintf(out, "\\u%04" PRIx32, (uint32_t)c);
}

static void put_text(FILE *out, const char *text, bool shown)
{
	putc('"', out);
	while (*text) {
		const char *start = text;
		int32_t c = safe_text_decode(&text);

		if (c < 0)
			put_escape(out, REPLACEMENT);
		else if (safe_text_is_control(c) && shown)
			continue;
		else if (safe_text_is_control(c))
			put_escape(out, c);
		else if (c == '"' || c == '\\')
			fprintf(out, "\\%c", (char)c);
		else
			fwrite(start, 1, (size_t)(text - start), out);
	}
	putc('"', out);
}

/* What precedes a value. */
static void begin_value(struct json_output *json, const char *key)
{
	if (json->follows)
		fputs(key ? ", " : ",", json->out);
	if (key) {
		put_text(json->out, key, false);
		fputs(": ", json->out);
	}
	json->follows = true;
}

static void open_brace(struct json_output *json, char brace)
{
	putc(brace, json->out);
	json->depth++;
	json->follows = false;
}

static void close_brace(struct json_output *json, char brace)
{
	putc(brace, json->out);
	json->depth--;
	json->follows = true;
	if (!json->depth)
		putc('\n', json->out);
}

void json_object(struct json_output *json, const char *key)
{
	begin_value(json, key);
	if (!key && json->depth)
		fprintf(json->out, "\n%*s", (int)json->depth, "");
	open_brace(json, '{');
}

void json_object_end(struct json_output *json)
{
	close_brace(json, '}');
}

void json_array(struct json_output *json, const char *key)
{
	begin_value(json, key);
	open_brace(json, '[');
}

void json_array_end(struct json_output *json)
{
	close_brace(json, ']');
}

void json_string(struct json_output *json, const char *key, const char *text)
{
	begin_value(json, key);
	put_text(json->out, text, false);
}

void json_shown(struct json_output *json, const char *key, const char *text)
{
	begin_value(json, key);
	put_text(json->out, text, true);
}

void json_number(struct json_output *json, const char *key, int64_t value)
{
	begin_value(json, key);
	fprintf(json->out, "%" PRId64, value);
}

void json_unsigned(struct json_output *json, const char *key, uint64_t value)
{
	begin_value(json, key);
	fprintf(json->out, "%" PRIu64, value);
}

void json_decimal(struct json_output *json, const char *key, uint64_t value, unsigned int places)
{
	uint64_t one = 1, rest;

	for (unsigned int i = 0; i < places; i++)
		one *= 10;
	rest = value % one;
	begin_value(json, key);
	fprintf(json->out, "%" PRIu64, value / one);
	if (!rest)
		return;
	for (; rest % 10 == 0; rest /= 10)
		places--;
	fprintf(json->out, ".%0*" PRIu64, (int)places, rest);
}

void json_address(struct json_output *json, const char *key, uint64_t value)
{
	begin_value(json, key);
	fprintf(json->out, "\"0x%" PRIx64 "\"", value);
}

void json_bool(struct json_output *json, const char *key, bool value)
{
	begin_value(json, key);
	fputs(value ? "true" : "false", json->out);
}

void json_null(struct json_output *json, const char *key)
{
	begin_value(json, key);
	fputs("null", json->out);
}
