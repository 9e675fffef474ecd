/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resolve_offsets - print what is at the file offsets that stdin lists.
 *
 *	resolve_offsets FILE <offsets
 *
 * One line for each offset: NAME, tab, FILE:LINE, for each frame; the time that
 * a look-up took goes to stderr.
 */
#include "symbol/symbolizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FRAMES 128

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void print_frames(const struct symbol *f, int n)
{
	for (int i = 0; i < n; i++)
		printf("%s%s\t%s:%u", i ? "\t" : "", f[i].name,
		       f[i].src_file ? f[i].src_file : "??", f[i].line);
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct symbolizer_options options = {.inlines = true, .lines = true};
	struct symbol frames[FRAMES];
	struct symbolizer_stats stats;
	struct symbolizer *s;
	unsigned int id, count = 0;
	double spent = 0;
	char line[64];

	if (argc != 2 || symbolizer_open(&options, &s) ||
	    symbolizer_file(s, &(struct symbol_file){.path = argv[1]}, &id))
		return 2;
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t offset = strtoull(line, NULL, 16);
		double start = seconds();
		int n = symbolizer_resolve(s, id, offset, frames, FRAMES);

		spent += seconds() - start;
		count++;
		print_frames(frames, n > 0 ? n : 0);
	}
	symbolizer_get_stats(s, &stats);
	fprintf(stderr, "%.2f us an address, %zu KiB\n", count ? spent * 1e6 / count : 0,
		stats.memory >> 10);
	symbolizer_close(s);
	return 0;
}
