/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ranges that come and go in a large map; their code never runs.
 */
#include "storm.h"

#include <bobbin/codectl.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define RANGES 4096
#define STEP 64

static uint64_t text;
/* An empty table with an address of its own for each range: it has no rows yet. */
static struct code_jit_unwind_table tables[RANGES];
static bool there[RANGES];
static struct actor churner = {.seed = 99};

static void toggle(unsigned int i)
{
	struct code_jit_info info = {.text_start = text + i * STEP,
				     .text_end = text + i * STEP + STEP / 2,
				     .unwind_head = (uintptr_t)&tables[i]};
	int r = bobbin_codectl(there[i] ? CODE_UNREGISTER : CODE_REGISTER_JIT, &info, sizeof(info),
			       0, NULL);

	if (r)
		storm_failed("churn", r);
	there[i] = !there[i];
}

void churn_init(void)
{
	void *memory = mmap(NULL, RANGES * STEP, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	if (memory == MAP_FAILED) {
		storm_failed("mmap", errno);
		return;
	}
	text = (uintptr_t)memory;
	for (unsigned int i = 0; i < RANGES; i += 2)
		toggle(i);
}

void churn_round(void)
{
	toggle((unsigned int)arbitrary(&churner, RANGES));
}
