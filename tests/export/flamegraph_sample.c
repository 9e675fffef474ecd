/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flamegraph_sample - print the flame graph that flamegraph-browser drives.
 */
#include <stdio.h>
#include <stdlib.h>

#include "export/call_tree.h"
#include "export/flamegraph.h"

static int add(struct call_tree *tree, const char *caller, const struct call_frame *callee,
	       uint64_t weight)
{
	const struct call_frame frames[] = {
		{"main", "/bin/app", FRAME_USER, 0, NULL},
		{caller, "/bin/app", FRAME_USER, 0, NULL},
		*callee,
	};

	return call_tree_add(tree, frames, 3, weight);
}

static int fill(struct call_tree *tree)
{
	int r = 0;

	r |= add(tree, "alpha", &(struct call_frame){"beta", "/bin/app", FRAME_USER, 0, NULL}, 60);
	r |= add(tree, "alpha", &(struct call_frame){"write", "[kernel]", FRAME_KERNEL, 0, NULL},
		 20);
	r |= add(tree, "gamma", &(struct call_frame){"tiny", "/bin/app", FRAME_INLINED, 0, NULL},
		 15);
	r |= add(tree, "gamma",
		 &(struct call_frame){"</script>\"]]>\\\xff<b>&", "\"'\n", FRAME_JIT, 0, NULL}, 5);
	return r;
}

int main(void)
{
	struct call_tree *tree;

	if (call_tree_open(&tree) < 0 || fill(tree))
		return 1;
	if (flamegraph_write(tree, &(struct flamegraph_options){.min_width = 0.1}, stdout) < 0)
		return 1;
	call_tree_close(tree);
	return 0;
}
