/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fre_encode.h - a rule as the words of a row, the inverse of sframe_rule.c.
 */
#ifndef BOBBIN_SFRAME_FRE_ENCODE_H
#define BOBBIN_SFRAME_FRE_ENCODE_H

#include "sframe/layout.h"

/**
 * struct fre_words - the words of a row before their width is chosen
 * @info: the info byte without number and width
 * @count: number of words
 * @words: the words
 * @need: as many bits as the widest word needs
 */
struct fre_words {
	uint8_t info, count;
	int32_t words[SFRAME_FRE_MAX_WORDS];
	uint32_t need;
};

static inline bool is_sframe_s390x(const struct bobbin_arch *arch)
{
	return arch->elf_machine == SFRAME_EM_S390;
}

/* As a row of an ordinary function or, V3, a @flex one; false: not representable there. */
bool fre_words_of(const struct bobbin_arch *arch, unsigned int version, bool flex,
		  const struct bobbin_rule *rule, struct fre_words *ret);

/* Write the info byte and the words, at most 1 + 4 * SFRAME_FRE_MAX_WORDS bytes.  How many. */
unsigned int fre_words_put(const struct fre_words *words, bool big_endian, uint8_t *at);

/* 0, 1, 2: one, two or four bytes hold every word. */
static inline unsigned int fre_words_shift(const struct fre_words *words)
{
	return words->need > 0xffff ? 2 : words->need > 0xff;
}

#endif
