/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Symbols of any characters, as OCaml, Haskell and D names.
 *
 * Contract: nothing is written beyond the room; what fits is text, ended, and the
 * same whatever the room; less room is a refusal and no half a name.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROOM 4096
#define MAX_SYMBOL 2048

typedef bool read_name(const char *symbol, char *dst, size_t size);

static void promise(bool kept)
{
	if (!kept)
		abort();
}

static void check(read_name *read, const char *symbol)
{
	char text[ROOM], *exact;
	size_t len;

	if (!read(symbol, text, sizeof(text)))
		return;
	len = strnlen(text, sizeof(text));
	promise(len && len < sizeof(text));
	exact = malloc(len + 1);
	promise(exact && read(symbol, exact, len + 1) && !strcmp(exact, text));
	promise(!read(symbol, exact, len));
	free(exact);
	for (size_t i = 0; i < len; i++)
		promise((uint8_t)text[i] >= ' ' && text[i] != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char symbol[MAX_SYMBOL + 1];

	if (size > MAX_SYMBOL)
		return 0;
	memcpy(symbol, data, size);
	symbol[size] = '\0';
	for (size_t i = 0; i < size; i++)
		if ((uint8_t)symbol[i] <= ' ' || symbol[i] == 0x7f)
			symbol[i] = '_';
	check(ocaml_name, symbol);
	check(haskell_name, symbol);
	check(dlang_name, symbol);
	return 0;
}
