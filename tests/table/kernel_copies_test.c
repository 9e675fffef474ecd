/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel_copies_test FILE - whether the lookup of linux/new says what the library says, and how many
 * copies from user memory it makes.
 *
 * The kernel's source is compiled here, in a world whose only memory is the table: at each address the
 * rule must be the same; in damaged tables it must not ask for anything outside.
 */
#include <inttypes.h>

#include "../promise.h"
#include "file_table.h"
#include "kernel_reader.h"
#include "table/compiled_table.h"

/* An entry for a cell, of 8 bytes, a block and a word; three splits; or a wide rule */
#define MOST_COPIES 6
#define USUAL_COPIES 3
#define DAMAGED_TABLES 300
#define LOOKUPS 400

#define BIAS UINT64_C(0x7f0000000000)

static bool same_row(const struct compiled_table *t, uint64_t pc, int r,
		     const struct bobbin_row *row)
{
	struct compiled_row found;
	struct bobbin_rule rule;
	int expected = compiled_table_find(t, pc, &found);

	if (!expected)
		expected = compiled_table_rule(t, &found, &rule);
	if (expected || r)
		return expected == r;
	return found.start + BIAS == row->start && found.end + BIAS == row->end &&
	       bobbin_rule_equal(&rule, &row->rule);
}

static bool compare(const char *path, const struct compiled_table *t, struct kernel_reader *reader)
{
	uint64_t different = 0, by_copies[MOST_COPIES + 1] = {0};
	struct bobbin_row row;
	unsigned int copies;

	for (uint64_t pc = t->start; pc < t->end; pc++) {
		int r = kernel_reader_lookup(reader, pc + BIAS, &copies, &row);

		if (copies > MOST_COPIES || !same_row(t, pc, r, &row))
			different++;
		else
			by_copies[copies]++;
	}
	printf("%s: %" PRIu64 " addresses by at most 3 copies, %" PRIu64 " by 4, %" PRIu64
	       " by 5, %" PRIu64 " by 6; %" PRIu64 " different\n",
	       path, by_copies[0] + by_copies[1] + by_copies[2] + by_copies[USUAL_COPIES],
	       by_copies[4], by_copies[5], by_copies[6], different);
	return by_copies[USUAL_COPIES] && !different;
}

/* Half of the changes are made after the head was looked at: a process may do so. */
static bool read_damaged(const uint8_t *data, uint64_t size, const struct compiled_table *t)
{
	uint8_t *copy = malloc(size);
	struct kernel_reader *reader;
	struct bobbin_row row;
	unsigned int copies;
	bool late = random_number() % 2;

	promise(copy);
	memcpy(copy, data, size);
	for (unsigned int i = 0; !late && i < 8; i++)
		copy[random_number() % size] = (uint8_t)random_number();
	reader = kernel_reader_open(copy, size, t->start, t->end, BIAS);
	for (unsigned int i = 0; late && i < size / 32; i++)
		copy[random_number() % size] = random_number() % 2 ? (uint8_t)random_number()
								   : 0xff;
	for (unsigned int i = 0; reader && i < LOOKUPS; i++) {
		kernel_reader_lookup(reader,
				     BIAS + t->start + random_number() % (t->end - t->start),
				     &copies, &row);
		promise(copies <= MOST_COPIES);
	}
	promise(!kernel_reader_outside());
	kernel_reader_close(reader);
	free(copy);
	return reader;
}

int main(int argc, char **argv)
{
	struct kernel_reader *reader;
	struct compiled_table table;
	unsigned int opened = 0;
	uint64_t size = 0;
	uint8_t *data = argc == 2 ? file_table_make(argv[1], &size) : NULL;
	bool good;

	if (!data || compiled_table_init(data, size, NULL, &table))
		return 1;
	reader = kernel_reader_open(data, size, table.start, table.end, BIAS);
	good = reader && compare(argv[1], &table, reader) && !kernel_reader_outside();
	kernel_reader_close(reader);
	for (unsigned int i = 0; i < DAMAGED_TABLES; i++)
		opened += read_damaged(data, size, &table);
	printf("%s: %u damaged tables were taken, nothing outside was asked for\n", argv[1],
	       opened);
	free(data);
	return !good || !opened;
}
