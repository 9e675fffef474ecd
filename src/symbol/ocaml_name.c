/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/language_names.h"

#include <ctype.h>
#include <string.h>

#define PREFIX "caml"
#define PREFIX_SIZE 4

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* "$27" at @symbol; 0 if it is no visible character. */
static char escaped(const char *symbol)
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
		return escaped(symbol);
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
