/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/safe_text.h"

#include <stdlib.h>
#include <string.h>

#define REPLACEMENT 0xfffd
#define ELLIPSIS 0x2026
/* Bytes of a character. */
#define UTF8_MAX 4

/* How many bytes follow this first byte, and the least value that needs them. */
static int trail(unsigned char lead, int32_t *least)
{
	if (lead >= 0xc2 && lead <= 0xdf) {
		*least = 0x80;
		return 1;
	}
	if (lead >= 0xe0 && lead <= 0xef) {
		*least = 0x800;
		return 2;
	}
	if (lead >= 0xf0 && lead <= 0xf4) {
		*least = 0x10000;
		return 3;
	}
	return 0;
}

int32_t safe_text_decode(const char **at)
{
	const unsigned char *text = (const unsigned char *)*at;
	int32_t c, least = 0;
	int n;

	if (!*text)
		return 0;
	*at += 1;
	if (*text < 0x80)
		return *text;
	n = trail(*text, &least);
	if (!n)
		return -1;
	c = *text & (0x3f >> n);
	for (int i = 1; i <= n; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return -1;
		c = c << 6 | (text[i] & 0x3f);
	}
	if (c < least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return -1;
	*at += n;
	return c;
}

bool safe_text_is_control(int32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x61c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/* The next character fit to print, or 0 at the end. */
static int32_t next_printable(const char **at)
{
	for (;;) {
		int32_t c = safe_text_decode(at);

		if (!c)
			return 0;
		/* the last two code points of each plane are not characters */
		if (c < 0 || (c & 0xfffe) == 0xfffe)
			return REPLACEMENT;
		if (!safe_text_is_control(c))
			return c;
	}
}

static size_t columns_of(int32_t c)
{
	return c >= 0x1100 && (c < 0x2000 || c >= 0x2e80) && c != REPLACEMENT ? 2 : 1;
}

size_t safe_text_columns(const char *text)
{
	size_t columns = 0;
	int32_t c;

	while ((c = next_printable(&text)))
		columns += columns_of(c);
	return columns;
}

/* Its bytes in UTF-8, and how many. */
static size_t encode(int32_t c, char ret[UTF8_MAX])
{
	size_t n = 0;

	if (c < 0x80) {
		ret[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		ret[n++] = (char)(0xc0 | c >> 6);
	} else if (c < 0x10000) {
		ret[n++] = (char)(0xe0 | c >> 12);
		ret[n++] = (char)(0x80 | (c >> 6 & 0x3f));
	} else {
		ret[n++] = (char)(0xf0 | c >> 18);
		ret[n++] = (char)(0x80 | (c >> 12 & 0x3f));
		ret[n++] = (char)(0x80 | (c >> 6 & 0x3f));
	}
	ret[n++] = (char)(0x80 | (c & 0x3f));
	return n;
}

static void put_plain(FILE *out, int32_t c)
{
	char bytes[UTF8_MAX];

	fwrite_unlocked(bytes, 1, encode(c, bytes), out);
}

static void put_xml(FILE *out, int32_t c)
{
	if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'')
		fprintf(out, "&#%d;", (int)c);
	else
		put_plain(out, c);
}

static void put_script(FILE *out, int32_t c)
{
	if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\\' || c == ']')
		fprintf(out, "\\x%02x", (unsigned int)c);
	else
		put_plain(out, c);
}

static size_t put_cut(FILE *out, const char *text, size_t columns, void (*put)(FILE *, int32_t))
{
	bool cut = safe_text_columns(text) > columns;
	size_t room = cut && columns ? columns - 1 : columns, left = room;
	int32_t c;

	while ((c = next_printable(&text)) && columns_of(c) <= left) {
		left -= columns_of(c);
		put(out, c);
	}
	if (cut && columns)
		put(out, ELLIPSIS);
	return room - left + (cut && columns);
}

/* Most names are, and there are millions of them. */
static size_t printable_ascii(const char *text)
{
	size_t n = 0;

	while (text[n] >= 0x20 && text[n] < 0x7f)
		n++;
	return n;
}

void safe_text_plain(FILE *out, const char *text)
{
	size_t plain = printable_ascii(text);

	fwrite_unlocked(text, 1, plain, out);
	if (text[plain])
		put_cut(out, text + plain, SIZE_MAX, put_plain);
}

const char *safe_text_printed(const char *text, char *room, size_t size)
{
	size_t n = 0;
	int32_t c;

	if (!text[printable_ascii(text)])
		return text;
	while ((c = next_printable(&text)) && n + UTF8_MAX < size)
		n += encode(c, room + n);
	room[n] = 0;
	return room;
}

char *safe_text_copy(const char *text)
{
	/* a byte that is none of UTF-8 takes three */
	const size_t size = 3 * strlen(text) + UTF8_MAX + 1;
	char *copy = malloc(size);
	const char *printed = copy ? safe_text_printed(text, copy, size) : NULL;

	if (printed == text)
		memcpy(copy, text, strlen(text) + 1);
	return copy;
}

size_t safe_text_cut(FILE *out, const char *text, size_t columns)
{
	return put_cut(out, text, columns, put_plain);
}

void safe_text_place(FILE *out, const char *path)
{
	safe_text_plain(out, path);
	fputs(": ", out);
}

void safe_text_xml(FILE *out, const char *text, size_t columns)
{
	put_cut(out, text, columns, put_xml);
}

void safe_text_script(FILE *out, const char *text, size_t columns)
{
	putc('"', out);
	put_cut(out, text, columns, put_script);
	putc('"', out);
}
