/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "xml_reader.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "export/safe_text.h"

#define DEPTH_MAX 16
#define ATTRIBUTES_MAX 24

struct name {
	const char *start;
	size_t length;
};

struct reader {
	const char *at;
	struct name open[DEPTH_MAX];
	size_t depth;
	bool had_root;
	const char *fault;
};

static bool fail(struct reader *r, const char *fault)
{
	if (!r->fault)
		r->fault = fault;
	return false;
}

static bool skip(struct reader *r, const char *word)
{
	if (strncmp(r->at, word, strlen(word)))
		return false;
	r->at += strlen(word);
	return true;
}

static void skip_space(struct reader *r)
{
	while (*r->at == ' ' || *r->at == '\n')
		r->at++;
}

/* A character that XML allows; line feeds are the only control. */
static bool read_character(struct reader *r)
{
	int32_t c = safe_text_decode(&r->at);

	if (c == 0)
		return fail(r, "unexpected end");
	if (c < 0)
		return fail(r, "not UTF-8");
	if ((c < 0x20 && c != '\n') || (c & 0xfffe) == 0xfffe)
		return fail(r, "a character that XML forbids");
	return true;
}

static bool read_reference(struct reader *r)
{
	char *end;
	unsigned long c;

	if (!skip(r, "&#") || !isdigit((unsigned char)*r->at))
		return fail(r, "not a numeric reference");
	c = strtoul(r->at, &end, 10);
	if (*end != ';' || c < 0x20)
		return fail(r, "a bad reference");
	r->at = end + 1;
	return true;
}

static bool read_name(struct reader *r, struct name *name)
{
	name->start = r->at;
	while (isalnum((unsigned char)*r->at) || (*r->at && strchr("-_:.", *r->at)))
		r->at++;
	name->length = (size_t)(r->at - name->start);
	return (name->length && isalpha((unsigned char)*name->start)) || fail(r, "not a name");
}

static bool same_name(const struct name *a, const struct name *b)
{
	return a->length == b->length && !memcmp(a->start, b->start, a->length);
}

static bool read_attribute(struct reader *r, struct name *name)
{
	if (!read_name(r, name) || !skip(r, "=\""))
		return fail(r, "not an attribute");
	while (*r->at != '"') {
		if (*r->at == '<')
			return fail(r, "markup in an attribute");
		if (!(*r->at == '&' ? read_reference(r) : read_character(r)))
			return false;
	}
	r->at++;
	return true;
}

static bool read_attributes(struct reader *r)
{
	struct name names[ATTRIBUTES_MAX];
	size_t n = 0;

	for (;;) {
		const char *before = r->at;

		skip_space(r);
		if (*r->at == '>' || *r->at == '/' || *r->at == '?')
			return true;
		if (before == r->at || n == ATTRIBUTES_MAX || !read_attribute(r, &names[n]))
			return fail(r, "bad attributes");
		for (size_t i = 0; i < n; i++)
			if (same_name(&names[i], &names[n]))
				return fail(r, "an attribute twice");
		n++;
	}
}

static bool read_close(struct reader *r)
{
	struct name name;

	if (!read_name(r, &name) || !skip(r, ">"))
		return fail(r, "a bad end tag");
	if (!r->depth || !same_name(&name, &r->open[r->depth - 1]))
		return fail(r, "an end tag without its start");
	r->depth--;
	return true;
}

static bool read_open(struct reader *r)
{
	struct name name;

	if (!r->depth && r->had_root)
		return fail(r, "a second root");
	r->had_root = true;
	if (!read_name(r, &name) || !read_attributes(r))
		return false;
	if (skip(r, "/>"))
		return true;
	if (!skip(r, ">") || r->depth == DEPTH_MAX)
		return fail(r, "a bad start tag");
	r->open[r->depth++] = name;
	return true;
}

static bool read_cdata(struct reader *r)
{
	while (!skip(r, "]]>"))
		if (!read_character(r))
			return false;
	return r->depth || fail(r, "text outside of the root");
}

static bool read_text(struct reader *r)
{
	if (!strncmp(r->at, "]]>", 3))
		return fail(r, "]]> in text");
	if (!r->depth && *r->at != '\n')
		return fail(r, "text outside of the root");
	return *r->at == '&' ? read_reference(r) : read_character(r);
}

static bool read_piece(struct reader *r)
{
	if (skip(r, "<![CDATA["))
		return read_cdata(r);
	if (skip(r, "</"))
		return read_close(r);
	if (skip(r, "<"))
		return read_open(r);
	return read_text(r);
}

const char *xml_reader_check(const char *text)
{
	struct reader r = {.at = text};

	if (!skip(&r, "<?xml") || !read_attributes(&r) || !skip(&r, "?>"))
		return "no XML declaration";
	while (*r.at)
		if (!read_piece(&r))
			return r.fault;
	return r.depth ? "an element is not closed" : r.had_root ? NULL : "no root";
}
