/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/row_forms.h"

#include "base/vector.h"
#include "sframe/fre_encode.h"

void row_forms_init(const struct bobbin_arch *arch, unsigned int version, struct row_forms *ret)
{
	*ret = (struct row_forms){.arch = arch, .version = version, .seed = hash_seed()};
}

static void encode(struct row_forms *forms, const struct bobbin_rule *rule, struct row_form *form)
{
	struct fre_words words;

	form->body = (uint32_t)forms->body_size;
	for (unsigned int flex = 0; flex < 2; flex++) {
		if (rule->flags & BOBBIN_RULE_SWITCH ||
		    !fre_words_of(forms->arch, forms->version, flex, rule, &words)) {
			form->flags |= ROW_NO_BODY << flex;
			continue;
		}
		form->size[flex] = (uint8_t)fre_words_put(&words, forms->arch->big_endian,
							  forms->bodies + forms->body_size);
		forms->body_size += form->size[flex];
	}
}

static int add(struct row_forms *forms, uint64_t word, const struct bobbin_rule *rule,
	       uint32_t *ret)
{
	struct row_form form = {.word = word, .flags = (uint16_t)(1u << (rule->flags & 7))};

	if (vector_reserve(&forms->forms, &forms->capacity, forms->count + 1,
			   sizeof(*forms->forms)) ||
	    vector_reserve(&forms->bodies, &forms->body_capacity,
			   forms->body_size + (size_t)2 * SFRAME_FRE_MAX_SIZE, 1) ||
	    forms->body_size > UINT32_MAX - 2 * SFRAME_FRE_MAX_SIZE)
		return -ENOMEM;
	encode(forms, rule, &form);
	*ret = (uint32_t)forms->count;
	forms->forms[forms->count++] = form;
	return 0;
}

int row_forms_of_word(struct row_forms *forms, uint64_t word, uint32_t *ret)
{
	const uint64_t hash = hash_words(word, 0, forms->seed);
	struct bobbin_rule rule;
	size_t at = 0;
	int r;

	while (hash_index_next(&forms->index, hash, &at, ret))
		if (forms->forms[*ret].word == word)
			return 0;
	bobbin_rule_unpack(word, &rule);
	r = add(forms, word, &rule, ret);
	return r ? r : hash_index_add(&forms->index, hash, *ret);
}

int row_forms_of_rule(struct row_forms *forms, const struct bobbin_rule *rule, uint32_t *ret)
{
	uint64_t word;
	int r;

	if (!bobbin_rule_pack(rule, &word))
		return row_forms_of_word(forms, word, ret);
	*ret = forms->wide_form;
	if (forms->wide.cfa.how && bobbin_rule_equal(&forms->wide, rule))
		return 0;
	r = add(forms, 0, rule, ret);
	if (r)
		return r;
	forms->wide = *rule;
	forms->wide_form = *ret;
	return 0;
}

void row_forms_fini(struct row_forms *forms)
{
	free(forms->forms);
	free(forms->bodies);
	hash_index_fini(&forms->index);
	*forms = (struct row_forms){0};
}
