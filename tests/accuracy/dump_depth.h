/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump_depth.h - how much of the stack must be copied to reach its end?
 */
#ifndef BOBBIN_ACCURACY_DUMP_DEPTH_H
#define BOBBIN_ACCURACY_DUMP_DEPTH_H

#include "sample_set.h"

/**
 * dump_depth_print() - shares of complete traces by size of the dump
 * @unwinder: knows the files
 * @set: samples, recorded with the largest dumps of interest
 *
 * One row for each program on standard output.
 */
void dump_depth_print(struct bobbin_unwinder *unwinder, const struct sample_set *set);

#endif
