/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dwfl_pool.h - one libdwfl for each set of mapped files.
 */
#ifndef BOBBIN_ACCURACY_DWFL_POOL_H
#define BOBBIN_ACCURACY_DWFL_POOL_H

#include "dwfl_walk.h"
#include "sample_set.h"

struct dwfl_pool {
	struct pooled_walk *walks;
	size_t count, room;
};

/**
 * dwfl_pool_get() - the walk for a layout, opened at the first call
 * @pool: zeroed at first
 * @layout: of the sample
 *
 * Return: the walk, or NULL if it cannot be opened.
 */
struct dwfl_walk *dwfl_pool_get(struct dwfl_pool *pool, const struct sample_layout *layout);

/**
 * dwfl_pool_fini() - close all
 * @pool: the pool
 */
void dwfl_pool_fini(struct dwfl_pool *pool);

#endif
