/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/terminal_bytes.h"

#include <stdlib.h>

#include "export/top_view.h"

/* Longer ones are none. */
#define LONGEST 16

/* CSI A, SS3 A. */
static int key_of_letter(char letter)
{
	switch (letter) {
	case 'A':
		return TOP_KEY_UP;
	case 'B':
		return TOP_KEY_DOWN;
	case 'H':
		return TOP_KEY_HOME;
	case 'F':
		return TOP_KEY_END;
	default:
		return 0;
	}
}

/* CSI 5 ~ */
static int key_of_number(long number)
{
	switch (number) {
	case 1:
	case 7:
		return TOP_KEY_HOME;
	case 4:
	case 8:
		return TOP_KEY_END;
	case 5:
		return TOP_KEY_PAGE_UP;
	case 6:
		return TOP_KEY_PAGE_DOWN;
	default:
		return 0;
	}
}

static bool is_final(char c)
{
	return c >= 0x40 && c <= 0x7e;
}

/* What follows CSI or SS3, up to a final byte. */
static int read_sequence(const char *bytes, size_t size, bool more, size_t *used)
{
	size_t at = 2;

	while (at < size && at < LONGEST && !is_final(bytes[at]))
		at++;
	if (at == size && at < LONGEST) {
		*used = more ? 0 : size;
		return 0;
	}
	*used = at == LONGEST ? at : at + 1;
	if (at == LONGEST)
		return 0;
	return bytes[at] == '~' ? key_of_number(strtol(bytes + 2, NULL, 10))
				: key_of_letter(bytes[at]);
}

int terminal_bytes_key(const char *bytes, size_t size, bool more, size_t *used)
{
	*used = 1;
	if (bytes[0] != TOP_KEY_ESCAPE)
		return (unsigned char)bytes[0];
	if (size == 1 && more)
		*used = 0;
	if (size == 1)
		return more ? 0 : TOP_KEY_ESCAPE;
	if (bytes[1] == '[' || bytes[1] == 'O')
		return read_sequence(bytes, size, more, used);
	return TOP_KEY_ESCAPE;
}
