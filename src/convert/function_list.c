/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/function_list.h"

#include "base/vector.h"
#include "sframe/fre_encode.h"

/* Rows take about 3 to 5 bytes, functions about 9 rows. */
#define BYTES_PER_FUNCTION 48

static int reserve_shared(struct bobbin_sframe_builder *b, uint32_t functions)
{
	uint32_t slots = 64;

	while (slots < functions + functions / 2 && slots < 1u << 30)
		slots *= 2;
	b->shared = calloc(slots, sizeof(*b->shared));
	if (!b->shared)
		return -ENOMEM;
	b->shared_max = slots;
	return 0;
}

/* Room for @need elements of an array of the builder's, which counts them in 32 bits. */
static int grow(void *array, uint32_t *max, uint64_t need, size_t size)
{
	size_t capacity = *max;
	int r = vector_reserve(array, &capacity, need, size);

	*max = capacity > UINT32_MAX ? UINT32_MAX : (uint32_t)capacity;
	return r;
}

static int grow_fdes(struct bobbin_sframe_builder *b, uint64_t need)
{
	return grow(&b->fdes, &b->fde_max, need, sizeof(*b->fdes));
}

static int grow_fres(struct bobbin_sframe_builder *b, uint64_t need)
{
	return grow(&b->fres, &b->fre_max, need, 1);
}

int section_maker_init(const struct bobbin_arch *arch, uint64_t addr, unsigned int version,
		       bool share, uint32_t functions, struct section_maker *ret)
{
	uint32_t fdes = functions > 64 ? functions : 64, fres = UINT32_MAX;
	struct section_maker maker = {0};
	int r = bobbin_sframe_builder_init(arch, addr, version, &maker.builder);

	if (r)
		return r;
	if (fdes < UINT32_MAX / BYTES_PER_FUNCTION)
		fres = fdes * BYTES_PER_FUNCTION;
	r = grow_fres(&maker.builder, fres);
	if (!r)
		r = grow_fdes(&maker.builder, fdes);
	if (!r && share)
		r = reserve_shared(&maker.builder, functions);
	if (r)
		section_maker_fini(&maker);
	else
		*ret = maker;
	return r;
}

int section_maker_reserve(struct section_maker *maker, uint64_t fdes, uint64_t bytes)
{
	struct bobbin_sframe_builder *b = &maker->builder;
	int r;

	if (fdes > INT32_MAX || bytes > INT32_MAX)
		return -ERANGE;
	r = grow_fdes(b, fdes);
	return r ? r : grow_fres(b, bytes);
}

int section_maker_finish(struct section_maker *maker, uint8_t **data, uint64_t *size)
{
	uint64_t need = bobbin_sframe_builder_size(&maker->builder);
	uint8_t *bytes = malloc(need);
	int r;

	if (!bytes)
		return -ENOMEM;
	if (maker->in_place)
		maker->builder.addr = (uintptr_t)bytes;
	r = bobbin_sframe_builder_finish(&maker->builder, bytes, need);
	if (r) {
		free(bytes);
		return r;
	}
	*data = bytes;
	*size = need;
	return 0;
}

void section_maker_fini(struct section_maker *maker)
{
	free(maker->builder.fdes);
	free(maker->builder.fres);
	free(maker->builder.shared);
	*maker = (struct section_maker){0};
}

static void row_forms_init(const struct bobbin_arch *arch, unsigned int version,
			   struct row_forms *ret)
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

/* Encode the rules of a pool that have no forms yet.  0, -ENOMEM. */
static int row_forms_encode(struct row_forms *forms, const struct rule_pool *rules)
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

static void row_forms_fini(struct row_forms *forms)
{
	free(forms->forms);
	free(forms->bodies);
	*forms = (struct row_forms){0};
}

/* Sets of flags, by BOBBIN_RULE_…: those of signal frames, and the two keys' with MANGLED. */
#define SIGNAL_FLAGS 0xaau
#define KEY_A_FLAGS 0x0cu
#define KEY_B_FLAGS 0xc0u

/* More than in most programs; unused pages take no memory. */
#define ROWS_PER_FUNCTION 12

int function_list_init(const struct bobbin_sframe_builder *builder, size_t functions,
		       struct function_list *ret)
{
	*ret = (struct function_list){.builder = builder};
	row_forms_init(builder->arch, builder->version, &ret->forms);
	/* some of them fall into parts */
	functions += functions / 8;
	if (rule_rows_init(&ret->rows) ||
	    vector_reserve(&ret->functions, &ret->capacity, functions, sizeof(*ret->functions)) ||
	    vector_reserve(&ret->rows.row, &ret->rows.capacity, functions * ROWS_PER_FUNCTION,
			   sizeof(*ret->rows.row))) {
		function_list_fini(ret);
		return -ENOMEM;
	}
	return 0;
}

/* Bytes of the rows' bodies; false: one of them cannot be in a function of this kind. */
static bool measure(const struct function_list *list, struct listed_function *f, bool flex,
		    uint32_t *flags)
{
	const struct rule_row *row = list->rows.row + f->first, *end = row + f->count;

	f->flex = flex;
	f->bytes = 0;
	f->last = f->count ? (uint32_t)(end[-1].start - f->start) : 0;
	*flags = 0;
	for (; row < end; row++) {
		const struct row_form *form = &list->forms.forms[row->rule];

		f->bytes += form->size[flex];
		*flags |= form->flags;
	}
	return !(*flags & ROW_NO_BODY << flex);
}

static int check(const struct function_list *list, struct listed_function *f)
{
	const struct bobbin_sframe_builder *b = list->builder;
	uint32_t flags;

	if (f->size > UINT64_MAX - f->start)
		return -EINVAL;
	if (f->count > BOBBIN_SFRAME_MAX_ROWS || (f->signal && b->version < 3) ||
	    !built_function_in_reach(b, f->start))
		return -ERANGE;
	if (!measure(list, f, false, &flags) && !measure(list, f, true, &flags))
		return -ERANGE;
	if (flags & (f->signal ? SIGNAL_FLAGS >> 1 : SIGNAL_FLAGS) ||
	    (flags & KEY_A_FLAGS && flags & KEY_B_FLAGS))
		return -EINVAL;
	f->info = (f->rep_size ? SFRAME_FDE_PCMASK : 0) |
		  (flags & KEY_B_FLAGS ? SFRAME_FDE_KEY_B : 0) |
		  (f->signal ? SFRAME_FDE_SIGNAL : 0);
	return 0;
}

int function_list_add(struct function_list *list, struct listed_function *f)
{
	uint32_t size;
	int r = row_forms_encode(&list->forms, &list->rows.rules);

	if (!r)
		r = check(list, f);
	if (r)
		return r;
	size = function_list_size(list, f);
	if (size > INT32_MAX - list->fre_len)
		return -ERANGE;
	if (vector_push(list->functions, list->count, list->capacity, *f))
		return -ENOMEM;
	list->fre_len += size;
	list->num_fres += f->count;
	return 0;
}

/* Add some of the rows of a run, the first of which is @row. */
static int add_part(struct function_list *list, const struct row_run *run,
		    const struct rule_row *row, size_t count, uint64_t end)
{
	struct listed_function f = {
		.start = row->start,
		.size = (uint32_t)(end - row->start),
		.signal = run->signal,
		.first = (size_t)(row - list->rows.row),
		.count = (uint32_t)count,
	};

	return end - row->start > UINT32_MAX ? -ERANGE : function_list_add(list, &f);
}

int function_list_add_run(struct function_list *list, const struct row_run *run)
{
	const struct rule_row *row = list->rows.row + run->first;
	size_t left = run->count, part = left;

	while (left) {
		uint64_t end;
		int r;

		part = part < left ? part : left;
		end = part < left ? row[part].start : run->end;
		r = add_part(list, run, row, part, end);
		if (function_list_refused(r) && part > 1) {
			part /= 2;
			continue;
		}
		if (function_list_refused(r))
			run->lost(run->ctx, row->start, end);
		else if (r)
			return r;
		row += part;
		left -= part;
		part *= 2;
	}
	return 0;
}

static BOBBIN_ALWAYS_INLINE uint8_t *write_rows(const struct function_list *list,
						const struct listed_function *f, bool flex,
						unsigned int width, uint8_t *at)
{
	const struct rule_row *row = list->rows.row + f->first, *end = row + f->count;
	const bool big_endian = list->builder->arch->big_endian;
	const uint64_t start = f->start;

	for (; row < end; row++) {
		const struct row_form *form = &list->forms.forms[row->rule];

		at = bytes_store(at, row->start - start, width, big_endian);
		at = row_form_copy(at, row_form_body(&list->forms, form, flex), form->size[flex]);
	}
	return at;
}

uint8_t *function_list_write(const struct function_list *list, const struct listed_function *f,
			     uint8_t *at, struct bobbin_sframe_built *ret)
{
	*ret = (struct bobbin_sframe_built){
		.start = f->start,
		.size = f->size,
		.num_fres = f->count,
		.rep_size = f->rep_size,
		.info = f->info | (uint8_t)(start_width(f->last) >> 1),
		.flex = f->flex,
	};
	at = sframe_put_attribute(list->builder, ret, at);
	/* flexible functions and long ones are rare */
	if (!f->flex && f->last <= 0xff)
		return write_rows(list, f, false, 1, at);
	if (!f->flex && f->last <= 0xffff)
		return write_rows(list, f, false, 2, at);
	return write_rows(list, f, f->flex, start_width(f->last), at);
}

int function_list_make(const struct function_list *list, struct section_maker *maker)
{
	struct bobbin_sframe_builder *b = &maker->builder;
	int r = section_maker_reserve(maker, b->fde_count + list->count,
				      b->fre_len + list->fre_len + ROW_SLACK);

	for (size_t i = 0; i < list->count && !r; i++) {
		uint8_t *from = b->fres + b->fre_len, *to;

		to = function_list_write(list, &list->functions[i], from, &b->fdes[b->fde_count]);
		r = built_function_append(b, (uint32_t)(to - from));
	}
	return r;
}

int function_list_move(struct function_list *list, struct section_maker *maker)
{
	int r = function_list_make(list, maker);

	list->count = list->rows.count = 0;
	list->num_fres = list->fre_len = 0;
	return r;
}

void function_list_fini(struct function_list *list)
{
	rule_rows_fini(&list->rows);
	row_forms_fini(&list->forms);
	free(list->functions);
	*list = (struct function_list){0};
}
