/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * s390x_float_regs.h - the floating-point registers of s390x by their DWARF numbers, in which
 * compilers keep general ones: 16 to 31, even registers of each half first.
 */
#ifndef BOBBIN_CORE_S390X_FLOAT_REGS_H
#define BOBBIN_CORE_S390X_FLOAT_REGS_H

#include <bobbin/types.h>

#define S390X_FLOAT_REGS 16

/* Of register @number, below 16. */
static inline unsigned int s390x_float_dwarf(unsigned int number)
{
	static const uint8_t numbers[S390X_FLOAT_REGS] = {16, 20, 17, 21, 18, 22, 19, 23,
							  24, 28, 25, 29, 26, 30, 27, 31};

	return numbers[number];
}

#endif
