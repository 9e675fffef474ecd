/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/symlist.h"

#include "base/vector.h"

/* Longer lines are passed over. */
#define MAX_LINE 16384
/* Files may have holes of any size. */
#define MAX_BYTES ((uint64_t)256 << 20)

int symlist_add_text(struct symlist *l, const char *text, size_t len, uint64_t *ret)
{
	int err = vector_reserve(&l->names, &l->names_capacity, l->names_size + len + 1, 1);

	if (err)
		return err;
	memcpy(l->names + l->names_size, text, len);
	l->names[l->names_size + len] = '\0';
	*ret = l->names_size;
	l->names_size += len + 1;
	return 0;
}

int symlist_add(struct symlist *l, uint64_t start, uint64_t size, uint64_t marks, const char *name,
		size_t len)
{
	uint64_t at;
	int err = symlist_add_text(l, name, len, &at);

	return err ? err : interval_map_add(&l->map, start, size, marks | at);
}

int symlist_read(FILE *f, symlist_line_fn *add, struct symlist *ret)
{
	struct symlist l = {0};
	bool goes_on = false; /* from the previous piece */
	char line[MAX_LINE];
	uint64_t bytes = 0;
	int err = 0;

	while (!err && bytes < MAX_BYTES && fgets(line, sizeof(line), f)) {
		size_t len = strlen(line);
		bool ends = len && line[len - 1] == '\n';

		/* what follows a zero is not seen */
		bytes += ends ? len : sizeof(line) - 1;
		if (ends && !goes_on) {
			line[len - 1] = '\0';
			err = add(&l, line);
		}
		goes_on = !ends;
	}
	if (err == -ENOMEM) {
		symlist_fini(&l);
		return err;
	}
	interval_map_sort(&l.map);
	*ret = l;
	return 0;
}

void symlist_fini(struct symlist *l)
{
	free(l->names);
	interval_map_fini(&l->map);
	*l = (struct symlist){0};
}
