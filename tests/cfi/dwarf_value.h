/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dwarf_value.h - a plain interpreter of DWARF expressions, over numbers.
 *
 * The oracle for the reader's symbolic one: expressions as libdw decodes them
 * are evaluated with made-up registers over a made-up memory, in which each
 * address holds a value of its own.  Two descriptions of a value that agree
 * under several made-up machines say the same.
 */
#ifndef BOBBIN_TESTS_DWARF_VALUE_H
#define BOBBIN_TESTS_DWARF_VALUE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct machine {
	uint64_t reg[128];
	uint64_t cfa, pc;
	uint64_t salt; /* of the memory */
};

/* Machine number @n, always the same. */
struct machine machine_of(uint64_t n);

/* The word at an address. */
uint64_t machine_word(const struct machine *m, uint64_t addr);

/*
 * Evaluate @ops.  @location: the result is where the value is, unless the
 * expression says otherwise; it is loaded.  false: an operator is not known.
 */
bool dwarf_value(const struct machine *m, const Dwarf_Op *ops, size_t count, bool location,
		 uint64_t *ret);

#endif
