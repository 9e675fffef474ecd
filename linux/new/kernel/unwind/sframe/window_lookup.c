// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * window_lookup.c - the usual lookup, within one window of user access.
 *
 * All of it is inlined, as nothing may be called in between.  It knows sections of version 3,
 * and rules that fit a section's plain one but for the CFA and the frame pointer; and whatever
 * else it meets, the lookup of lookup.c meets it again, and says what is wrong.
 */
#include <linux/compiler.h>
#include <linux/uaccess.h>

#define BOBBIN_MEMORY_WINDOW
#include "core/rule_word.h"
#include "map.h"
#include "sframe/row_search.h"
#include "window_lookup.h"

#define WINDOW_FORM (3 | (BOBBIN_HOST_BIG_ENDIAN ? FORM_BIG_ENDIAN : 0))

u64 sframe_plain_word(const struct bobbin_sframe_view *view)
{
	const struct bobbin_rule rule = {
		.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = BOBBIN_NATIVE_ARCH()->sp},
		.ra = {.how = BOBBIN_HOW_IN_CFA_MEM, .off = view->fixed_ra},
		.fp = {.how = BOBBIN_HOW_SAME},
		.index = BOBBIN_NO_INDEX,
	};
	u64 word;

	if (!view->data || view->version != 3 || !view->fixed_ra || view->fixed_fp)
		return 0;
	return bobbin_rule_pack(&rule, &word) ? 0 : word;
}

static __always_inline u64 window_word(const struct bobbin_rule *rule, u64 plain)
{
	u64 word = rule_word_with_cfa(plain, rule->cfa.reg, (u64)(s64)rule->cfa.off);

	if (rule->flags)
		return 0;
	return rule->fp.how == BOBBIN_HOW_SAME ? word : rule_word_with_fp(word, rule->fp.off);
}

static __always_inline u64 window_search(const struct bobbin_sframe_view *view, u64 plain, u64 pc)
{
	struct scan s = {.big_endian = BOBBIN_HOST_BIG_ENDIAN};
	struct bobbin_sframe_fde fde;
	struct bobbin_rule rule;

	if (sframe_find_fde(view, pc, WINDOW_FORM, NULL, &fde) || !fde.num_fres)
		return 0;
	s.off = (u32)(pc - fde.start);
	if (fde.pcmask)
		s.off %= fde.rep_size;
	if (sframe_find_row(view, &fde, NULL, &s) || !sframe_read_usual_rule(view, &fde, &s, &rule))
		return 0;
	return window_word(&rule, plain);
}

u64 sframe_window_lookup(const struct sframe_section *section, u64 pc)
{
	const struct bobbin_sframe_view *view = &section->view;
	u64 word;

	if (!section->plain || !user_read_access_begin((const void __user *)view->data,
						       view->size + SEARCH_WINDOW_ROOM))
		return 0;
	word = window_search(view, section->plain, pc);
	user_read_access_end();
	return word;
}
