/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* a64_texts.h - what instructions are, in words, which versions of Capstone spell differently. */
#ifndef BOBBIN_TESTS_INFER_A64_TEXTS_H
#define BOBBIN_TESTS_INFER_A64_TEXTS_H

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "infer/machine.h"

/* One digit: 0x1 is 1. */
static inline bool is_digit_in_hex(const char *text)
{
	return !strncmp(text, "0x", 2) && isdigit(text[2]) && !isxdigit(text[3]);
}

/* What stands before the end, or before '|'. */
static inline void spell_text(const char *text, char ret[INSN_TEXT_MAX])
{
	size_t n = 0;

	for (; *text && *text != '|' && n + 1 < INSN_TEXT_MAX; text++) {
		if (is_digit_in_hex(text))
			text += 2;
		ret[n++] = *text;
	}
	ret[n] = 0;
}

/* @texts: one, or several with '|' between them; NULL: some versions do not know it */
static inline void assert_text(const char *found, const char *texts)
{
	char spelled[INSN_TEXT_MAX], wanted[INSN_TEXT_MAX];

	spell_text(found, spelled);
	for (const char *at = texts; at; at = strchr(at, '|')) {
		at += *at == '|';
		spell_text(at, wanted);
		if (!strcmp(spelled, wanted))
			return;
	}
	if (texts)
		assert_string_equal(spelled, texts);
}

#endif
