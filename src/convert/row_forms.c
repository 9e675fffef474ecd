/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/row_forms.h"

#include "base/vector.h"
#include "sframe/fre_encode.h"

void row_forms_init(const struct bobbin_arch *arch, unsigned int version, struct row_forms *ret)
{
	*ret = (struct row_forms){.arch = arch, .version = version};
}

static bool words_of(const struct row_forms *forms, bool flex, const struct bobbin_rule *rule,
		     struct fre_words *ret)
{
	return !(rule->flags & BOBBIN_RULE_SWITCH) &&
	       fre_words_of(forms->arch, forms->version, flex, rule, ret);
}

bool row_forms_express(const struct row_forms *forms, const struct bobbin_rule *rule)
{
	struct fre_words words;

	return words_of(forms, false, rule, &words) || words_of(forms, true, rule, &words);
}

static struct row_form encode(struct row_forms *forms, const struct bobbin_rule *rule)
{
	struct row_form form = {
		.body = (uint32_t)forms->body_size,
		.flags = (uint16_t)(1u << (rule->flags & 7)),
	};
	struct fre_words words;

	for (unsigned int flex = 0; flex < 2; flex++) {
		if (!words_of(forms, flex, rule, &words)) {
			form.flags |= ROW_NO_BODY << flex;
			continue;
		}
		form.size[flex] = (uint8_t)fre_words_put(&words, forms->arch->big_endian,
							 forms->bodies + forms->body_size);
		forms->body_size += form.size[flex];
	}
	return form;
}

int row_forms_encode(struct row_forms *forms, const struct rule_pool *rules)
{
	for (; forms->count < rules->count; forms->count++) {
		if (vector_reserve(&forms->forms, &forms->capacity, forms->count + 1,
				   sizeof(*forms->forms)) ||
		    vector_reserve(&forms->bodies, &forms->body_capacity,
				   forms->body_size + (size_t)2 * SFRAME_FRE_MAX_SIZE, 1) ||
		    forms->body_size > UINT32_MAX - 2 * SFRAME_FRE_MAX_SIZE)
			return -ENOMEM;
		forms->forms[forms->count] = encode(forms, &rules->rules[forms->count].rule);
	}
	return 0;
}

void row_forms_fini(struct row_forms *forms)
{
	free(forms->forms);
	free(forms->bodies);
	*forms = (struct row_forms){0};
}
