/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * second_reader_test FILE - whether a reader that knows docs/compiled-table.md only says what the
 * library says of a file's table: at every address, and of damaged heads.  Of a damaged table
 * both must not read what is outside of it, where memory cannot be read.
 */
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "../promise.h"
#include "file_table.h"
#include "second_reader.h"
#include "table/compiled_table.h"

#define DAMAGED_TABLES 400
#define CHANGES 24
#define LOOKUPS 500

struct readers {
	struct compiled_table first;
	struct second_table second;
};

static bool same_place(const struct bobbin_place *a, const struct second_place *b)
{
	return a->how == (uint8_t)b->how && a->reg == b->reg && a->off == b->offset;
}

static bool same_rule(const struct bobbin_rule *a, const struct second_row *b)
{
	return same_place(&a->cfa, &b->cfa) && same_place(&a->ra, &b->ra) &&
	       same_place(&a->fp, &b->fp) && a->plus == b->plus && a->flags == b->flags &&
	       a->index == (b->index < 0 ? BOBBIN_NO_INDEX : b->index);
}

static enum second_answer answer_of(int r, const struct bobbin_rule *rule)
{
	if (r)
		return r == -ENOENT ? SECOND_UNKNOWN : SECOND_MALFORMED;
	return rule->cfa.how ? SECOND_FOUND : SECOND_NO_RULE;
}

/* Whether both say the same of an address; the second one's answer. */
static bool agree(const struct readers *t, uint64_t pc, enum second_answer *ret)
{
	struct second_row second = {0};
	struct compiled_row first = {0};
	struct bobbin_rule rule = {0};
	int r = compiled_table_find(&t->first, pc, &first);

	if (!r)
		r = compiled_table_rule(&t->first, &first, &rule);
	*ret = second_lookup(&t->second, pc, &second);
	if (answer_of(r, &rule) != *ret)
		return false;
	if (pc - t->first.start >= t->first.end - t->first.start)
		return *ret == SECOND_UNKNOWN;
	if (first.start != second.start || first.end != second.end || first.begins != second.begins)
		return false;
	if (*ret == SECOND_NO_RULE)
		return rule.reason == second.reason;
	return *ret != SECOND_FOUND || same_rule(&rule, &second);
}

/* Every address, and one beside each end. */
static bool compare(const char *path, const struct readers *t)
{
	uint64_t answers[4] = {0}, different = 0;
	enum second_answer answer;

	for (uint64_t pc = t->first.start - 1; pc != t->first.end + 1; pc++) {
		if (!agree(t, pc, &answer) && !different++)
			printf("%s: they differ at %" PRIx64 "\n", path, pc);
		answers[answer]++;
	}
	printf("%s: rules at %" PRIu64 " addresses, none known at %" PRIu64
	       ", none stated at %" PRIu64 "; %" PRIu64 " malformed, %" PRIu64 " different\n",
	       path, answers[SECOND_FOUND], answers[SECOND_UNKNOWN], answers[SECOND_NO_RULE],
	       answers[SECOND_MALFORMED], different);
	return answers[SECOND_FOUND] && !different && !answers[SECOND_MALFORMED];
}

/* A copy between pages that cannot be read: one begins, or ends, where it does. */
static uint8_t *fence(uint64_t size, bool ends, uint8_t **pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size + page - 1) / page * page;

	*pages = mmap(NULL, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	promise(*pages != MAP_FAILED);
	promise(!mprotect(*pages + page, room, PROT_READ | PROT_WRITE));
	return *pages + page + (ends ? room - size : 0);
}

/* Mostly the head, the pairs, the index and the last blocks: changes there lead far. */
static uint64_t damaged_place(const struct readers *t, uint64_t size)
{
	switch (random_number() % 8) {
	case 0:
		return 36 + random_number() % 36;
	case 1:
	case 2:
		return t->second.index_at + random_number() % (8 * t->second.entries);
	case 3:
	case 4:
		return t->second.blocks_at + random_number() % (64 * t->second.blocks);
	case 5:
		return size - 1 - random_number() % (size < 640 ? size : 640);
	default:
		return random_number() % size;
	}
}

static void damage(const struct readers *t, uint8_t *copy, uint64_t size)
{
	for (unsigned int i = 0; i < 1 + random_number() % CHANGES; i++)
		copy[damaged_place(t, size)] = random_number() % 4 ? (uint8_t)random_number()
								   : 0xff;
}

static bool reads_damaged(const uint8_t *copy, uint64_t size, uint64_t *lookups)
{
	struct bobbin_error error;
	struct readers t;
	enum second_answer answer;
	bool first = !compiled_table_init(copy, size, &error, &t.first);
	bool second = second_open(copy, size, &t.second);

	if (first != second)
		return false;
	for (unsigned int i = 0; first && i < LOOKUPS; i++) {
		uint64_t pc = t.first.start + random_number() % (t.first.end - t.first.start);

		agree(&t, pc, &answer);
		++*lookups;
	}
	return true;
}

static bool fuzz(const char *path, const struct readers *t, uint64_t size)
{
	uint64_t lookups = 0;
	bool good = true;

	for (unsigned int i = 0; i < DAMAGED_TABLES && good; i++) {
		/* a table may be cut, too */
		uint64_t cut = i % 16 ? size : 1 + random_number() % size;
		uint8_t *pages, *copy = fence(cut, i % 2, &pages);
		size_t page = (size_t)sysconf(_SC_PAGESIZE);

		memcpy(copy, t->second.bytes, cut);
		if (cut == size)
			damage(t, copy, size);
		good = reads_damaged(copy, cut, &lookups);
		munmap(pages, (cut + page - 1) / page * page + 2 * page);
	}
	printf("%s: %" PRIu64 " lookups in damaged tables%s\n", path, lookups,
	       good ? "" : "; they differ on a head");
	return good && lookups;
}

int main(int argc, char **argv)
{
	struct readers t;
	uint64_t size = 0;
	uint8_t *data = argc == 2 ? file_table_make(argv[1], &size) : NULL;
	bool good;

	if (!data || compiled_table_init(data, size, NULL, &t.first) ||
	    !second_open(data, size, &t.second))
		return 1;
	good = compare(argv[1], &t) && fuzz(argv[1], &t, size);
	free(data);
	return !good;
}
