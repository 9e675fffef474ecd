/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * json_output.h - print one JSON document.
 *
 *	struct json_output json = json_output(stdout);
 *
 *	json_object(&json, NULL);
 *	json_string(&json, "file", path);
 *	json_array(&json, "rows");
 *	json_unsigned(&json, NULL, 7);
 *	json_array_end(&json);
 *	json_object_end(&json);
 *
 * Every value takes the key under which it stands in its object; in arrays and
 * for the document itself the key is NULL.  Objects in arrays start a line each.
 * Output errors stay in the stream, see finish_output().
 */
#ifndef BOBBIN_EXPORT_JSON_OUTPUT_H
#define BOBBIN_EXPORT_JSON_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct json_output - where a document has got to
 * @out: the stream, borrowed
 * @depth: objects and arrays that are open
 * @follows: the next value follows another one, and needs a comma
 */
struct json_output {
	FILE *out;
	unsigned int depth;
	bool follows;
};

static inline struct json_output json_output(FILE *out)
{
	return (struct json_output){.out = out};
}

void json_object(struct json_output *json, const char *key);
/* Ends the innermost object; a line end follows if it was the document. */
void json_object_end(struct json_output *json);

void json_array(struct json_output *json, const char *key);
void json_array_end(struct json_output *json);

/* Valid JSON whatever the text holds: bytes that are no UTF-8 become U+FFFD. */
void json_string(struct json_output *json, const char *key, const char *text);
/* The same of what is shown of the text: without the characters that safe_text.h leaves out. */
void json_shown(struct json_output *json, const char *key, const char *text);
void json_number(struct json_output *json, const char *key, int64_t value);
void json_unsigned(struct json_output *json, const char *key, uint64_t value);
/* Places of nanoseconds that are written as microseconds, as milliseconds. */
#define NS_AS_US 3
#define NS_AS_MS 6

/* With a point before the last @places digits, at most 18; zeros at the end are left out. */
void json_decimal(struct json_output *json, const char *key, uint64_t value, unsigned int places);
/* An address, as the string "0x…": many readers keep 53 bits of a number only. */
void json_address(struct json_output *json, const char *key, uint64_t value);
void json_bool(struct json_output *json, const char *key, bool value);
void json_null(struct json_output *json, const char *key);

#endif
