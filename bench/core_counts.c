/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * core_counts FILE - lookups and steps, to be counted apart: see count-core.
 *
 * FILE holds the bytes of a section.  The PCs are spread over its functions, the steps go by
 * the rules that the lookups find, over a stack of which each word is an address in it.
 */
#include <stdio.h>
#include <stdlib.h>

#include <bobbin/arch.h>
#include <bobbin/sframe.h>
#include <bobbin/step.h>
#include <bobbin/unwind.h>

#define COUNT 20000
#define BASE UINT64_C(0x10000000)
#define WORDS (1u << 18)

static struct bobbin_row rows[COUNT];
static uint64_t pcs[COUNT], words[WORDS];

__attribute__((noinline)) unsigned int core_lookups(const struct bobbin_sframe_view *view);
__attribute__((noinline)) unsigned int core_steps(const struct bobbin_stack_copy *stack);

unsigned int core_lookups(const struct bobbin_sframe_view *view)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < COUNT; i++)
		found += !bobbin_sframe_lookup(view, pcs[i], NULL, &rows[i]);
	return found;
}

unsigned int core_steps(const struct bobbin_stack_copy *stack)
{
	const struct bobbin_mem mem = {bobbin_stack_copy_read, (void *)stack};
	unsigned int done = 0;

	for (unsigned int i = 0; i < COUNT; i++) {
		struct bobbin_regs regs = {.pc = pcs[i], .sp = BASE, .fp = BASE + 4096};

		done += !bobbin_step(bobbin_arch_amd64(), &rows[i].rule, &mem, &regs);
	}
	return done;
}

static size_t read_file(const char *name, uint8_t **ret)
{
	FILE *file = fopen(name, "rb");
	long size;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) <= 0)
		return 0;
	*ret = malloc((size_t)size);
	rewind(file);
	return *ret ? fread(*ret, 1, (size_t)size, file) : 0;
}

static void choose_pcs(const struct bobbin_sframe_view *view)
{
	struct bobbin_sframe_fde fde;

	srand(1);
	for (unsigned int i = 0; i < COUNT; i++) {
		do
			if (bobbin_sframe_fde(view, (uint32_t)rand() % view->num_fdes, NULL, &fde))
				exit(2);
		while (!fde.size || !fde.num_fres);
		pcs[i] = fde.start + (uint64_t)rand() % fde.size;
	}
}

int main(int argc, char **argv)
{
	const struct bobbin_stack_copy stack = {BASE, (const uint8_t *)words, sizeof(words)};
	struct bobbin_sframe_view view;
	uint8_t *bytes = NULL;
	size_t size = argc == 2 ? read_file(argv[1], &bytes) : 0;

	if (!size || bobbin_sframe_view(bytes, size, BASE, NULL, &view) || !view.num_fdes)
		return 2;
	for (unsigned int i = 0; i < WORDS; i++)
		words[i] = BASE + 8 * i;
	choose_pcs(&view);
	printf("%u lookups", core_lookups(&view));
	printf(", %u steps\n", core_steps(&stack));
	free(bytes);
	return 0;
}
