/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tree_changes.h - what the nodes of a tree weigh in another one, the baseline.
 *
 *	baseline  main 10 ── parse 6		main      10
 *		          └─ emit  4		├─ parse   6
 *	tree      main 20 ── parse 18    ──►	└─ lex     0	only the tree has it
 *		          └─ lex   2				left: 4 of emit
 *
 * Nodes are the same that have the same names and kinds from the root on; of files, the last part
 * of the path counts.
 */
#ifndef BOBBIN_EXPORT_TREE_CHANGES_H
#define BOBBIN_EXPORT_TREE_CHANGES_H

#include <stdint.h>

#include "export/call_tree.h"
#include "export/preorder.h"

/**
 * struct tree_changes - the baseline's weights
 * @totals: by places of the tree's preorder
 * @all: of the baseline
 * @missing: of its stacks, those that end where the tree has no node
 */
struct tree_changes {
	uint64_t *totals;
	uint64_t all, missing;
};

/* @order: that of @tree.  0 or -ENOMEM. */
int tree_changes_init(const struct call_tree *tree, const struct preorder *order,
		      const struct call_tree *baseline, struct tree_changes *ret);
void tree_changes_fini(struct tree_changes *changes);

/*
 * By how many hundredths of a percentage point the share of a place with @total of @all is greater
 * than the baseline's.
 */
int64_t tree_changes_points(const struct tree_changes *changes, uint32_t place, uint64_t total,
			    uint64_t all);

#endif
