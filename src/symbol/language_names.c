/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of "package_Module_name_con_info", parts are divided by '_', which the encoding spells "zu". */
#define MAX_PARTS 5
#define MAX_TUPLE 64

struct part {
	const char *text;
	size_t len;
};

struct writer {
	char *dst;
	size_t size, len;
	bool full;
};

static void put(struct writer *w, char c)
{
	if (w->len + 1 >= w->size)
		w->full = true;
	else
		w->dst[w->len++] = c;
}

static void put_text(struct writer *w, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		put(w, text[i]);
}

static void put_utf8(struct writer *w, uint32_t c)
{
	unsigned int rest = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};

	put(w, (char)(lead[rest] | c >> (6 * rest)));
	while (rest--)
		put(w, (char)(0x80 | (c >> (6 * rest) & 0x3f)));
}

/* What a letter after 'z' or 'Z' stands for; pairs. */
static char escaped(char lead, char letter)
{
	static const char low[] = "a&b|c^d$e=g>h#i.l<m-n!p+q'r\\s/t*u_v%zz";
	static const char high[] = "L(R)M[N]C:ZZ";

	for (const char *pair = lead == 'z' ? low : high; *pair; pair += 2)
		if (*pair == letter)
			return pair[1];
	return '\0';
}

static uint32_t number(const char *text, size_t len, unsigned int base, size_t *used)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t n = 0;

	for (*used = 0; *used < len && n < 0x110000; (*used)++) {
		const char *at = memchr(digits, text[*used], base);

		if (!at)
			break;
		n = n * base + (uint32_t)(at - digits);
	}
	return n;
}

/* "3bbU" after a 'z': a character by its number.  Bytes used, 0: it is none. */
static size_t put_character(struct writer *w, const char *text, size_t len)
{
	size_t used;
	uint32_t c = number(text, len, 16, &used);

	if (!used || used == len || text[used] != 'U' || c <= ' ' || (c >= 0x7f && c < 0xa0) ||
	    c >= 0x110000)
		return 0;
	put_utf8(w, c);
	return used + 1;
}

/* "2T" after a 'Z': "(,)"; "H": "(#,#)". */
static size_t put_tuple(struct writer *w, const char *text, size_t len)
{
	size_t used;
	uint32_t n = number(text, len, 10, &used);
	bool boxed = used < len && text[used] == 'T';

	if (!used || used == len || n > MAX_TUPLE || (!boxed && text[used] != 'H'))
		return 0;
	put_text(w, "(#", boxed ? 1 : 2);
	for (uint32_t i = 1; i < n; i++)
		put(w, ',');
	put_text(w, boxed ? ")" : "#)", boxed ? 1 : 2);
	return used + 1;
}

/* What follows a 'z' or 'Z'; 0: nothing that the encoding writes. */
static size_t put_escaped(struct writer *w, char lead, const char *text, size_t len)
{
	char c = len ? escaped(lead, text[0]) : '\0';

	if (c) {
		put(w, c);
		return 1;
	}
	return lead == 'z' ? put_character(w, text, len) : put_tuple(w, text, len);
}

static bool decode(struct writer *w, struct part part)
{
	for (size_t at = 0, step; at < part.len; at += step) {
		char c = part.text[at];

		step = 1;
		if (c == 'z' || c == 'Z') {
			step = put_escaped(w, c, part.text + at + 1, part.len - at - 1);
			if (!step++)
				return false;
		} else if (isalnum((unsigned char)c)) {
			put(w, c);
		} else {
			return false;
		}
	}
	return part.len && !w->full;
}

static size_t split(const char *symbol, struct part parts[MAX_PARTS])
{
	for (size_t n = 0; n < MAX_PARTS; n++) {
		size_t len = strcspn(symbol, "_");

		parts[n] = (struct part){symbol, len};
		if (!symbol[len])
			return n + 1;
		symbol += len + 1;
	}
	return 0;
}

static bool is(struct part part, const char *text)
{
	return strlen(text) == part.len && !memcmp(part.text, text, part.len);
}

/* How many parts at the end are no name: "info", or "con_info" and others. */
static size_t ending_size(const struct part *parts, size_t count, const char **kept)
{
	static const char *const kinds[] = {"con", "static", "ret"};
	static const char *const code[] = {"slow", "fast"};

	*kept = "";
	if (is(parts[count - 1], "info") || is(parts[count - 1], "entry")) {
		for (size_t i = 0; count > 3 && i < sizeof(kinds) / sizeof(*kinds); i++)
			if (is(parts[count - 2], kinds[i])) {
				*kept = parts[count - 2].text - 1;
				return 2;
			}
		return 1;
	}
	for (size_t i = 0; i < sizeof(code) / sizeof(*code); i++)
		if (is(parts[count - 1], code[i])) {
			*kept = parts[count - 1].text - 1;
			return 1;
		}
	return 0;
}

static bool has(struct part part, const char *code)
{
	return memmem(part.text, part.len, code, strlen(code));
}

/* "GHCziBase": a dot between names that start in upper case. */
static bool is_nested(struct part module)
{
	for (size_t i = 1; i + 2 < module.len; i++)
		if (!memcmp(module.text + i, "zi", 2) && isupper((unsigned char)module.text[i + 2]))
			return isupper((unsigned char)module.text[0]);
	return false;
}

/* "textzm1zi2zi5": the version begins with a digit. */
static size_t version_at(struct part package)
{
	for (size_t i = 1; i + 2 < package.len; i++)
		if (!memcmp(package.text + i, "zm", 2) &&
		    isdigit((unsigned char)package.text[i + 2]))
			return i;
	return package.len;
}

/* Whether no C program would call something like this. */
static bool is_sure(struct part package, struct part module, struct part name)
{
	if (!package.len)
		return is_nested(module) || is(module, "ZCMain") ||
		       (is(module, "Main") && name.len > 2 && !memcmp(name.text, "zd", 2));
	return isupper((unsigned char)module.text[0]) &&
	       (is_nested(module) || version_at(package) < package.len || has(package, "zmprim"));
}

bool haskell_name(const char *symbol, char *dst, size_t size)
{
	struct writer w = {.dst = dst, .size = size};
	struct part parts[MAX_PARTS], package = {symbol, 0};
	size_t count = split(symbol, parts), ending;
	const char *kept;

	ending = count ? ending_size(parts, count, &kept) : 0;
	count -= ending;
	if (!ending || count < 2 || count > 3 || !parts[count - 2].len)
		return false;
	if (count == 3)
		package = parts[0];
	if ((count == 3 && !package.len) || !is_sure(package, parts[count - 2], parts[count - 1]))
		return false;
	if (count == 3) {
		package.len = version_at(package);
		if (!decode(&w, package))
			return false;
		put(&w, ':');
	}
	if (!decode(&w, parts[count - 2]))
		return false;
	put(&w, '.');
	if (!decode(&w, parts[count - 1]))
		return false;
	put_text(&w, kept, strlen(kept));
	dst[w.len] = '\0';
	return size && !w.full;
}

#define PREFIX "caml"
#define PREFIX_SIZE 4

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* "$27" at @symbol; 0 if it is no visible character. */
static char ocaml_escaped(const char *symbol)
{
	int high = hex_digit(symbol[1]), low = high < 0 ? -1 : hex_digit(symbol[2]);
	int c = low < 0 ? 0 : 16 * high + low;

	return c > ' ' && c < 0x7f ? (char)c : '\0';
}

/* "_1444", or what a compilation unit has besides functions. */
static bool has_ending(const char *symbol)
{
	static const char *const units[] = {"entry", "code_begin", "code_end"};
	size_t len = strlen(symbol), digits = 0;

	while (digits < len && isdigit((unsigned char)symbol[len - digits - 1]))
		digits++;
	if (digits && digits < len && symbol[len - digits - 1] == '_')
		return true;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t unit = strlen(units[i]);

		if (len > unit && !strcmp(symbol + len - unit, units[i]))
			return symbol[len - unit - 1] == '_' || symbol[len - unit - 1] == '.';
	}
	return false;
}

/* The character at @symbol and how many it takes there; 0: none that OCaml writes. */
static char read_one(const char *symbol, size_t *step)
{
	*step = 1;
	if (symbol[0] == '$') {
		*step = 3;
		return ocaml_escaped(symbol);
	}
	if (symbol[0] == '_' && symbol[1] == '_' && symbol[2] && symbol[2] != '_') {
		*step = 2;
		return '.';
	}
	return isalnum((unsigned char)symbol[0]) || strchr("_.'", symbol[0]) ? symbol[0] : '\0';
}

bool ocaml_name(const char *symbol, char *dst, size_t size)
{
	size_t len = 0, step, dots = 0;

	if (strncmp(symbol, PREFIX, PREFIX_SIZE) || !isupper((unsigned char)symbol[PREFIX_SIZE]) ||
	    !has_ending(symbol))
		return false;
	for (symbol += PREFIX_SIZE; *symbol; symbol += step) {
		char c = read_one(symbol, &step);

		if (!c || len + 1 >= size)
			return false;
		dots += c == '.';
		dst[len++] = c;
	}
	dst[len] = '\0';
	return dots;
}

/*
 * libiberty makes the whole name in memory, and a symbol can name parts of itself
 * again ('Q'), so that twenty levels of two would be a million.  With these limits
 * it is a few hundred times the symbol at most.
 */
#define MAX_SYMBOL 1024
#define MAX_BACK_REFERENCES 16

static bool is_bounded(const char *symbol)
{
	size_t references = 0, len = 0;

	for (; symbol[len] && len <= MAX_SYMBOL; len++)
		references += symbol[len] == 'Q';
	return len <= MAX_SYMBOL && references <= MAX_BACK_REFERENCES;
}

/* Where the last parameter list starts, if the name ends with one, and what may follow it. */
static size_t length_without_parameters(const char *name)
{
	const char *end = strrchr(name, ')');
	size_t at = end ? (size_t)(end - name) : 0, depth = 0;

	if (!end || strpbrk(end, ".!"))
		return strlen(name);
	for (; at; at--) {
		depth += name[at] == ')';
		depth -= name[at] == '(';
		if (!depth)
			break;
	}
	return at ? at : strlen(name);
}

bool dlang_name(const char *symbol, char *dst, size_t size)
{
	char *name = NULL;
	size_t len;

	if (strncmp(symbol, "_D", 2) || !isdigit((unsigned char)symbol[2]) || !is_bounded(symbol))
		return false;
	name = dlang_demangle(symbol, DMGL_DLANG);
	len = name ? length_without_parameters(name) : 0;
	if (len && len < size) {
		memcpy(dst, name, len);
		dst[len] = '\0';
	}
	free(name);
	return len && len < size;
}
