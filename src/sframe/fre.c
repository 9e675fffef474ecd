/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fre.c - frame row entries.
 */
#include "core/bytes.h"
#include "sframe/layout.h"

/*
 * Flexible rows hold control and offset words in turn, except that a control
 * word of 0 in the place of the return address is followed by no offset.
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

BOBBIN_API int bobbin_sframe_fre(const struct bobbin_sframe_view *view,
				 const struct bobbin_sframe_fde *fde, uint64_t offset,
				 struct bobbin_error *err, struct bobbin_sframe_fre *ret)
{
	struct bytes b = bytes_of(view->data, view->size, sframe_big_endian(view));
	struct bobbin_sframe_fre fre = {.offset = offset};

	bytes_seek(&b, offset);
	fre.start = (uint32_t)bytes_get(&b, fde->fre_type);
	fre.info = bytes_u8(&b);
	if (b.bad || offset < view->fre_off || !sframe_fre_info_valid(fre.info))
		return refuse_read(b.fault, err, offset, BOBBIN_REASON_SFRAME_FRE);
	if (fre.start > sframe_fre_limit(fde))
		return refuse(err, offset, BOBBIN_REASON_SFRAME_RANGE);
	fre.num_words = SFRAME_FRE_NUM_WORDS(fre.info);
	fre.word_size = 1 << SFRAME_FRE_WORD_SHIFT(fre.info);
	read_words(&b, fde->flex, &fre);
	if (b.bad)
		return refuse_read(b.fault, err, offset, BOBBIN_REASON_SFRAME_FRE);
	fre.next = b.pos;
	*ret = fre;
	return 0;
}
