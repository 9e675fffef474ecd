/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as Go's table of functions.
 *
 * Contract: no byte outside of the table is read; a refusal has a reason and leaves the
 * result alone; a row holds the PC and lies in its function, and its rule can be applied
 * or says why not.
 */
#include <errno.h>
#include <string.h>

#include "../tests/promise.h"
#include "golang/pclntab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PLACES 512

static void check_rule(const struct bobbin_rule *rule)
{
	if (rule->cfa.how == BOBBIN_HOW_NO_RULE) {
		promise(rule->reason > BOBBIN_REASON_NONE && rule->reason < BOBBIN_REASON_COUNT);
		return;
	}
	promise(rule->cfa.how == BOBBIN_HOW_AT_REG || rule->cfa.how == BOBBIN_HOW_IN_REG_MEM);
	promise(rule->cfa.reg == 6 || rule->cfa.reg == 7);
	promise(rule->ra.how != BOBBIN_HOW_NO_RULE && rule->fp.how != BOBBIN_HOW_NO_RULE);
	promise(rule->cfa.off > 0 && rule->cfa.off % 8 == 0);
}

static void check_lookup(const struct pclntab *t, uint64_t pc)
{
	struct bobbin_error error = {0};
	struct bobbin_row row, before;
	int r;

	memset(&row, 0x5a, sizeof(row));
	before = row;
	r = pclntab_lookup(t, bobbin_arch_amd64(), pc, &error, &row);
	if (r) {
		promise(r == -ENOENT || r == -EBADMSG);
		promise(error.reason != BOBBIN_REASON_NONE && !memcmp(&row, &before, sizeof(row)));
		return;
	}
	promise(row.start <= pc && pc < row.end);
	check_rule(&row.rule);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bobbin_error error = {0};
	struct pclntab table = {0};
	uint64_t start, end;
	int r = pclntab_init(data, size, size % 2 ? 0x401000 : 0, bobbin_arch_amd64(), &error,
			     &table);

	if (r) {
		promise(r == -EBADMSG && error.reason == BOBBIN_REASON_GO_TABLE && !table.data);
		promise(error.offset <= size);
		return 0;
	}
	for (uint64_t i = 0; i < PLACES; i++) {
		const char *name = pclntab_name(&table, table.text_start - 1 + i, &start);

		check_lookup(&table, table.text_start - 1 + i);
		promise(!name || (*name && (const uint8_t *)name + strlen(name) < data + size));
	}
	for (uint32_t i = 0; i < table.count && i < PLACES; i++)
		if (!pclntab_entry(&table, i, &start, &end)) {
			promise(start < end);
			check_lookup(&table, start);
			check_lookup(&table, end - 1);
		}
	return 0;
}
