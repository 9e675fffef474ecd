/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pages that lie, or that are changed at the worst moments. */
#include "codemap/page_copy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <errno.h>

#define BASE UINT64_C(0x7fff00000000)
#define COUNT 8
#define IDENTITY_WORDS \
	((sizeof(struct bobbin_code_identity) + PAGE_COPY_MAX_STRING) / sizeof(uint64_t))

/* What a page points to, including structures larger than ours. */
struct forgery {
	struct bobbin_code_page page;
	struct bobbin_code_entry entries[COUNT], elsewhere[COUNT];
	uint8_t large[COUNT][sizeof(struct bobbin_code_entry) + 24];
	uint64_t identity[IDENTITY_WORDS];
	/* not to be read: called before each read */
	void (*meddle)(struct forgery *f);
	unsigned int reads;
	struct page_copy code;
};

/* With a path of one letter. */
static void fill_identity(uint64_t words[IDENTITY_WORDS], uint32_t path_len, char letter)
{
	const struct bobbin_code_identity head = {
		.size = IDENTITY_WORDS * sizeof(uint64_t),
		.path_len = path_len,
	};

	memcpy(words, &head, sizeof(head));
	memset((char *)words + sizeof(head), letter, path_len);
}

static uint64_t at(size_t offset)
{
	return BASE + offset;
}

static struct bobbin_code_entry entry_of(uint64_t n)
{
	return (struct bobbin_code_entry){
		.sequence = 2,
		.id = n,
		.kind = BOBBIN_CODE_SFRAME,
		.text_start = n << 12,
		.text_end = (n << 12) + 100,
		.table = 0x1000,
		.table_size = 10,
		.table_addr = 0x1000,
	};
}

static int make_forgery(void **state)
{
	struct forgery *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->page = (struct bobbin_code_page){
		.magic = BOBBIN_CODE_PAGE_MAGIC,
		.version = BOBBIN_CODE_PAGE_VERSION,
		.header_size = sizeof(f->page),
		.entry_size = sizeof(f->entries[0]),
		.sequence = 4,
		.changes = 1,
		.entries = at(offsetof(struct forgery, entries)),
		.entry_max = COUNT,
		.entry_count = COUNT,
	};
	for (unsigned int i = 0; i < COUNT; i++) {
		f->entries[i] = entry_of(i + 1);
		f->elsewhere[i] = entry_of(i + 101);
		memset(f->large[i], 0xff, sizeof(f->large[i]));
		memcpy(f->large[i], &f->entries[i], sizeof(f->entries[i]));
	}
	page_copy_init(&(struct remote_process){NULL, 1}, &f->code);
	f->code.page = BASE;
	*state = f;
	return 0;
}

static int free_forgery(void **state)
{
	struct forgery *f = *state;

	page_copy_fini(&f->code);
	free(f);
	return 0;
}

static enum bobbin_reason read_forgery(void *ctx, uint64_t addr, void *dst, size_t len)
{
	struct forgery *f = ctx;
	const size_t size = offsetof(struct forgery, meddle);

	f->reads++;
	if (f->meddle)
		f->meddle(f);
	if (addr < BASE || addr - BASE > size || size - (addr - BASE) < len)
		return BOBBIN_REASON_NO_MEMORY;
	memcpy(dst, (uint8_t *)f + (addr - BASE), len);
	return BOBBIN_REASON_NONE;
}

static int parse(struct forgery *f)
{
	const struct bobbin_mem mem = {read_forgery, f};

	return page_copy_parse(&f->code, &mem, NULL);
}

static void assert_is_entry(const struct page_range *range, uint64_t n)
{
	struct bobbin_code_entry expected = entry_of(n);

	assert_memory_equal(&range->entry, &expected, sizeof(expected));
}

static void assert_refused(struct forgery *f, int error)
{
	const struct bobbin_mem mem = {read_forgery, f};

	/* nonsense on the page does not replace known code */
	assert_int_equal(parse(f), error);
	assert_int_equal(f->code.count, COUNT);
	for (unsigned int i = 0; i < COUNT; i++)
		assert_is_entry(&f->code.ranges[i], i + 1);
	if (error == -EBADMSG)
		assert_int_equal(page_copy_probe(BASE, &mem), error);
}

static void senseless_heads_are_refused(void **state)
{
	const struct bobbin_code_page good = ((struct forgery *)*state)->page;
	struct forgery *f = *state;

#define REFUSED(field, value) \
	do { \
		f->page = good; \
		f->page.changes++; \
		f->page.field = value; \
		assert_refused(f, -EBADMSG); \
	} while (0)
	assert_int_equal(parse(f), 1);
	REFUSED(magic, 0);
	REFUSED(magic, BOBBIN_CODE_PAGE_MAGIC + 1);
	REFUSED(version, 0);
	REFUSED(version, 2);
	REFUSED(header_size, 0);
	REFUSED(header_size, sizeof(f->page) - 1);
	REFUSED(header_size, UINT32_MAX);
	REFUSED(entry_size, 0);
	REFUSED(entry_size, sizeof(f->entries[0]) - 8);
	REFUSED(entry_size, sizeof(f->entries[0]) + 4);
	REFUSED(entry_size, UINT32_MAX);
	REFUSED(entry_count, COUNT + 1);
	REFUSED(entry_count, UINT64_MAX);
	REFUSED(entry_max, COUNT - 1);
	REFUSED(entry_max, PAGE_COPY_MAX_ENTRIES + 1);
	REFUSED(entry_max, UINT64_MAX);
	REFUSED(entries, BASE + 4);
	REFUSED(entries, UINT64_MAX - 7);
#undef REFUSED
}

static void entries_that_cannot_be_read_are_a_fault(void **state)
{
	struct forgery *f = *state;

	assert_int_equal(parse(f), 1);
	f->page.changes++;
	f->page.entries = 0x1000;
	assert_refused(f, -EFAULT);
	f->code.page = 0x1000;
	assert_refused(f, -EFAULT);
}

static void head_that_never_holds_still_is_tried_for_a_while(void **state)
{
	struct forgery *f = *state;

	assert_int_equal(parse(f), 1);
	f->page.changes++;
	f->page.sequence = 5;
	f->reads = 0;
	assert_refused(f, -EAGAIN);
	assert_true(f->reads < 100);
}

static void structures_of_later_versions_are_read_as_far_as_known(void **state)
{
	struct forgery *f = *state;

	f->page.header_size = sizeof(f->page) + 64;
	f->page.entry_size = sizeof(f->large[0]);
	f->page.entries = at(offsetof(struct forgery, large));
	assert_int_equal(parse(f), 1);
	assert_int_equal(f->code.count, COUNT);
	for (unsigned int i = 0; i < COUNT; i++)
		assert_is_entry(&f->code.ranges[i], i + 1);
}

static void senseless_entries_are_left_out(void **state)
{
	struct forgery *f = *state;

	f->entries[0].kind = BOBBIN_CODE_FREE;
	f->entries[1].kind = BOBBIN_CODE_COMPILED + 1;
	f->entries[2].text_end = f->entries[2].text_start;
	f->entries[3].text_start = UINT64_MAX;
	f->entries[4].table_size = UINT64_MAX;
	f->entries[5].table = 0;
	f->entries[6].kind = BOBBIN_CODE_JIT;
	f->entries[6].table = 0;
	f->entries[6].table_size = 0;
	assert_int_equal(parse(f), 1);
	assert_int_equal(f->code.count, 1);
	assert_is_entry(&f->code.ranges[0], COUNT);
}

static void of_entries_that_overlap_the_first_stays(void **state)
{
	struct forgery *f = *state;

	f->entries[0].text_end = (UINT64_C(3) << 12) + 1; /* over 2, and into 3 */
	f->entries[5] = f->entries[4];
	f->entries[5].id = 77;
	f->entries[7].text_start--;                        /* only now, that is where 7 … */
	f->entries[6].text_end = f->entries[7].text_start; /* … ends */
	assert_int_equal(parse(f), 1);
	assert_int_equal(f->code.count, 5);
	assert_int_equal(f->code.ranges[0].entry.id, 1);
	assert_int_equal(f->code.ranges[1].entry.id, 4);
	assert_int_equal(f->code.ranges[2].entry.id, 5);
	assert_int_equal(f->code.ranges[3].entry.id, 7);
	assert_int_equal(f->code.ranges[4].entry.id, 8);
}

static void entry_that_stays_odd_does_not_hide_the_others(void **state)
{
	struct forgery *f = *state;

	f->entries[3].sequence = 3;
	assert_int_equal(parse(f), -EAGAIN);
	assert_int_equal(f->code.count, COUNT - 1);
	assert_true(f->reads < 200);
	/* a writer that died is not waited for again and again */
	assert_int_equal(parse(f), 0);
}

/* A head, and entries all over the memory after it. */
struct endless {
	struct bobbin_code_page page;
	struct bobbin_code_entry entry;
	unsigned int reads;
};

static enum bobbin_reason read_endless(void *ctx, uint64_t addr, void *dst, size_t len)
{
	struct endless *e = ctx;
	const size_t stride = sizeof(e->entry);

	e->reads++;
	if (addr - BASE < sizeof(e->page)) {
		memcpy(dst, (uint8_t *)&e->page + (addr - BASE), len);
		return BOBBIN_REASON_NONE;
	}
	for (size_t i = 0; i < len; i += stride)
		memcpy((uint8_t *)dst + i, &e->entry, len - i < stride ? len - i : stride);
	return BOBBIN_REASON_NONE;
}

static int parse_endless(struct endless *e, uint32_t entry_size)
{
	const struct bobbin_mem mem = {read_endless, e};
	struct page_copy code = {.page = BASE};
	int r;

	e->page = (struct bobbin_code_page){
		.magic = BOBBIN_CODE_PAGE_MAGIC,
		.version = BOBBIN_CODE_PAGE_VERSION,
		.header_size = sizeof(e->page),
		.entry_size = entry_size,
		.entries = BASE + 4096,
		.entry_max = PAGE_COPY_MAX_ENTRIES,
		.entry_count = PAGE_COPY_MAX_ENTRIES,
	};
	r = page_copy_parse(&code, &mem, NULL);
	page_copy_fini(&code);
	return r;
}

static void a_million_entries_that_stay_odd_are_tried_for_a_while(void **state)
{
	struct endless e = {.entry = {.sequence = 1}};

	(void)state;
	assert_int_equal(parse_endless(&e, sizeof(e.entry)), -EAGAIN);
	assert_true(e.reads < 100000);
}

static void a_million_names_are_not_all_read(void **state)
{
	struct endless e = {.entry = entry_of(1)};

	(void)state;
	e.entry.identity = BASE + 4096;
	assert_int_equal(parse_endless(&e, sizeof(e.entry)), 1);
	assert_true(e.reads < PAGE_COPY_MAX_ENTRIES);
}

/* Few large entries, and when they have been copied many small ones. */
static enum bobbin_reason read_shrinking(void *ctx, uint64_t addr, void *dst, size_t len)
{
	struct endless *e = ctx;
	enum bobbin_reason reason = read_endless(ctx, addr, dst, len);

	if (addr >= e->page.entries && !e->page.sequence) {
		e->page.entry_size = sizeof(e->entry);
		e->page.entry_count = 600;
		e->page.sequence = 2;
	}
	return reason;
}

static void entries_that_shrink_have_room_each(void **state)
{
	struct endless e = {.entry = entry_of(1)};
	const struct bobbin_mem mem = {read_shrinking, &e};
	const struct remote_process self = {NULL, getpid()};
	struct page_copy code = {.page = BASE};

	(void)state;
	e.page = (struct bobbin_code_page){
		.magic = BOBBIN_CODE_PAGE_MAGIC,
		.version = BOBBIN_CODE_PAGE_VERSION,
		.header_size = sizeof(e.page),
		.entry_size = 4096,
		.entries = BASE + 4096,
		.entry_max = 600,
		.entry_count = 16,
	};
	assert_int_equal(page_copy_parse(&code, &mem, &self), 1);
	assert_int_equal(code.count, 1);
	assert_int_equal(e.page.entry_size, sizeof(e.entry));
	page_copy_fini(&code);
}

static void a_million_entries_of_absurd_size_are_refused(void **state)
{
	struct endless e = {.entry = entry_of(1)};

	(void)state;
	assert_int_equal(parse_endless(&e, 4096), -EBADMSG);
	assert_true(e.reads < 100);
}

/* The array moves when the entries were read, once. */
static void move_once(struct forgery *f)
{
	if (f->reads == 6) {
		f->page.sequence += 2;
		f->page.entries = at(offsetof(struct forgery, elsewhere));
		memset(f->entries, 0, sizeof(f->entries));
	}
}

static void array_that_moves_is_read_where_it_is_then(void **state)
{
	struct forgery *f = *state;

	f->meddle = move_once;
	assert_int_equal(parse(f), 1);
	assert_int_equal(f->code.count, COUNT);
	for (unsigned int i = 0; i < COUNT; i++)
		assert_is_entry(&f->code.ranges[i], i + 101);
}

/* It moves from memory that cannot be read any more. */
static void move_away(struct forgery *f)
{
	if (f->reads == 4) {
		f->page.sequence += 2;
		f->page.entries = at(offsetof(struct forgery, elsewhere));
	}
}

static void array_that_was_given_back_is_not_a_fault_if_it_moved(void **state)
{
	struct forgery *f = *state;

	f->page.entries = 0x1000;
	f->meddle = move_away;
	assert_int_equal(parse(f), 1);
	assert_int_equal(f->code.count, COUNT);
	assert_is_entry(&f->code.ranges[0], 101);
}

static void keep_moving(struct forgery *f)
{
	if (f->reads % 4 == 0)
		f->page.sequence += 2;
}

static void array_that_always_moves_is_tried_for_a_while(void **state)
{
	struct forgery *f = *state;

	assert_int_equal(parse(f), 1);
	f->page.changes++;
	f->meddle = keep_moving;
	f->reads = 0;
	assert_refused(f, -EAGAIN);
	assert_true(f->reads < 200);
}

/* When its memory is read, memory and entry belong to another registration. */
static void replace_identity(struct forgery *f)
{
	/* three reads of the head, three of the entry */
	if (f->reads == 7) {
		f->entries[0] = entry_of(50);
		f->entries[0].sequence += 2;
		memset(f->identity, 'x', sizeof(f->identity));
	}
}

static void identity_of_an_entry_that_has_gone_is_not_anothers(void **state)
{
	struct forgery *f = *state;

	f->page.entry_count = 1;
	f->entries[0].identity = at(offsetof(struct forgery, identity));
	fill_identity(f->identity, 4, 'p');
	assert_int_equal(parse(f), 1);
	assert_string_equal(f->code.ranges[0].image.path, "pppp");
	page_copy_fini(&f->code);

	f->reads = 0;
	f->meddle = replace_identity;
	assert_int_equal(parse(f), 1);
	assert_int_equal(f->code.count, 1);
	assert_int_equal(f->code.ranges[0].entry.id, 50);
	assert_null(f->code.ranges[0].image.path);
}

/* Many entries in few bytes: each read of the array gives the same page of them. */
struct crowd {
	struct bobbin_code_page page;
	uint64_t identity[IDENTITY_WORDS];
};

static enum bobbin_reason read_crowd(void *ctx, uint64_t addr, void *dst, size_t len)
{
	const struct crowd *crowd = ctx;

	if (addr < BASE + sizeof(*crowd)) {
		memcpy(dst, (const uint8_t *)crowd + (addr - BASE), len);
		return BOBBIN_REASON_NONE;
	}
	addr -= crowd->page.entries;
	for (size_t i = 0; i < len; i += sizeof(struct bobbin_code_entry)) {
		struct bobbin_code_entry e =
			entry_of((addr + i) / sizeof(struct bobbin_code_entry) + 1);
		size_t rest = len - i;

		e.identity = BASE + offsetof(struct crowd, identity);
		memcpy((uint8_t *)dst + i, &e, rest < sizeof(e) ? rest : sizeof(e));
	}
	return BOBBIN_REASON_NONE;
}

static void strings_of_a_crowd_have_a_limit(void **state)
{
	const struct forgery *f = *state;
	struct crowd *crowd = calloc(1, sizeof(*crowd));
	const struct bobbin_mem mem = {read_crowd, crowd};
	struct page_copy code;
	size_t strings = 0;

	crowd->page = f->page;
	crowd->page.entries = BASE + (UINT64_C(1) << 30);
	crowd->page.entry_count = crowd->page.entry_max = 30000;
	fill_identity(crowd->identity, PAGE_COPY_MAX_STRING, 'x');
	page_copy_init(&(struct remote_process){NULL, 1}, &code);
	code.page = BASE;
	assert_int_equal(page_copy_parse(&code, &mem, NULL), 1);
	assert_int_equal(code.count, 30000);
	for (size_t i = 0; i < code.count; i++)
		strings += code.ranges[i].image.path ? strlen(code.ranges[i].image.path) : 0;
	assert_int_equal(strings, PAGE_COPY_MAX_STRINGS);
	page_copy_fini(&code);
	free(crowd);
}

int main(void)
{
#define FORGERY_TEST(name) cmocka_unit_test_setup_teardown(name, make_forgery, free_forgery)
	const struct CMUnitTest tests[] = {
		FORGERY_TEST(senseless_heads_are_refused),
		FORGERY_TEST(entries_that_cannot_be_read_are_a_fault),
		FORGERY_TEST(head_that_never_holds_still_is_tried_for_a_while),
		FORGERY_TEST(structures_of_later_versions_are_read_as_far_as_known),
		FORGERY_TEST(senseless_entries_are_left_out),
		FORGERY_TEST(of_entries_that_overlap_the_first_stays),
		FORGERY_TEST(entry_that_stays_odd_does_not_hide_the_others),
		cmocka_unit_test(a_million_entries_that_stay_odd_are_tried_for_a_while),
		cmocka_unit_test(a_million_names_are_not_all_read),
		cmocka_unit_test(a_million_entries_of_absurd_size_are_refused),
		cmocka_unit_test(entries_that_shrink_have_room_each),
		FORGERY_TEST(array_that_moves_is_read_where_it_is_then),
		FORGERY_TEST(array_that_was_given_back_is_not_a_fault_if_it_moved),
		FORGERY_TEST(array_that_always_moves_is_tried_for_a_while),
		FORGERY_TEST(identity_of_an_entry_that_has_gone_is_not_anothers),
		FORGERY_TEST(strings_of_a_crowd_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
