/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fre.c - frame row entries.
 */
#include "core/bytes.h"
#include "sframe/layout.h"

/*
 * Flexible rows hold control and offset words in turn, except that a control
 * word of 0 in the place of the return address has no offset behind it.
 */
static bool is_control_word(const int32_t *words, unsigned int i)
{
	if (i < 3)
		return i != 1;
	return (i == 4) == (words[2] != 0);
}

static void read_words(struct bytes *b, bool flex, struct bobbin_sframe_fre *fre)
{
	for (unsigned int i = 0; i < fre->num_words; i++) {
		if (flex && is_control_word(fre->words, i))
			fre->words[i] = (int32_t)bytes_get(b, fre->word_size);
		else
			fre->words[i] = (int32_t)bytes_signed(b, fre->word_size);
	}
}

/*
 * The usual row has up to three signed words and is not the section's last.  How
 * many and how wide they are differs from row to row: no branch is taken on it.
 */
static bool read_usual_words(struct bytes *b, bool flex, struct bobbin_sframe_fre *fre)
{
	const uint8_t *p = b->data + b->pos;
	unsigned int excess = 32 - 8 * fre->word_size;

	if (flex || fre->num_words > 3 || bytes_left(b) < 12)
		return false;
	for (unsigned int i = 0; i < 3; i++, p += fre->word_size) {
		uint32_t word = load_u32(p, b->big_endian);

		if (!b->big_endian)
			word <<= excess;
		fre->words[i] = i < fre->num_words ? (int32_t)word >> excess : 0;
	}
	bytes_skip(b, (uint64_t)fre->num_words * fre->word_size);
	return true;
}

BOBBIN_API int bobbin_sframe_fre(const struct bobbin_sframe_view *view,
				 const struct bobbin_sframe_fde *fde, uint64_t offset,
				 struct bobbin_error *err, struct bobbin_sframe_fre *ret)
{
	struct bytes b = bytes_of(view->data, view->size, view->arch->big_endian);
	struct bobbin_sframe_fre fre = {.offset = offset};

	bytes_seek(&b, offset);
	fre.start = (uint32_t)bytes_get(&b, fde->fre_type);
	fre.info = bytes_u8(&b);
	if (b.bad || offset < view->fre_off || !sframe_fre_info_valid(fre.info))
		return refuse(err, offset, BOBBIN_SFRAME_FRE);
	if (fre.start > sframe_fre_limit(fde))
		return refuse(err, offset, BOBBIN_SFRAME_RANGE);
	fre.num_words = SFRAME_FRE_NUM_WORDS(fre.info);
	fre.word_size = 1 << SFRAME_FRE_WORD_SHIFT(fre.info);
	if (!read_usual_words(&b, fde->flex, &fre))
		read_words(&b, fde->flex, &fre);
	if (b.bad)
		return refuse(err, offset, BOBBIN_SFRAME_FRE);
	fre.next = b.pos;
	*ret = fre;
	return 0;
}
