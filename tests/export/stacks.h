/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stacks.h - stacks as text, and outputs as strings.
 *
 * "main;parse;k:page_fault" is a stack of three; the letter before a colon is
 * the kind (k: kernel, i: inlined, j: JIT, x: unknown).  Code of the kernel is
 * in "[kernel]", all other in "/bin/app".
 */
#ifndef BOBBIN_TESTS_EXPORT_STACKS_H
#define BOBBIN_TESTS_EXPORT_STACKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/call_tree.h"

#define STACK_MAX 64

struct stack {
	char text[1024];
	struct call_frame frames[STACK_MAX];
	size_t n;
};

static inline enum frame_kind kind_of_letter(char letter)
{
	switch (letter) {
	case 'k':
		return FRAME_KERNEL;
	case 'i':
		return FRAME_INLINED;
	case 'j':
		return FRAME_JIT;
	default:
		return FRAME_UNKNOWN;
	}
}

static inline struct call_frame frame_of(char *word)
{
	struct call_frame frame = {.name = word, .dso = "/bin/app", .kind = FRAME_USER};

	if (word[0] && word[1] == ':' && word[2] != ':') {
		frame.kind = kind_of_letter(word[0]);
		frame.name = word + 2;
	}
	if (frame.kind == FRAME_KERNEL)
		frame.dso = "[kernel]";
	return frame;
}

static inline void stack_init(struct stack *stack, const char *text)
{
	char *word, *rest;

	assert_true(strlen(text) < sizeof(stack->text));
	stack->n = 0;
	strcpy(stack->text, text);
	for (word = strtok_r(stack->text, ";", &rest); word; word = strtok_r(NULL, ";", &rest))
		stack->frames[stack->n++] = frame_of(word);
}

static inline struct call_tree *tree_open(void)
{
	struct call_tree *tree = NULL;

	assert_int_equal(call_tree_open(&tree), 0);
	return tree;
}

static inline void tree_add(struct call_tree *tree, const char *text, uint64_t weight)
{
	struct stack stack;

	stack_init(&stack, text);
	assert_int_equal(call_tree_add(tree, stack.frames, stack.n, weight), 0);
}

/* The same @n frames, alternating between two names. */
static inline void tree_add_deep(struct call_tree *tree, size_t n, uint64_t weight)
{
	struct call_frame *frames = calloc(n, sizeof(*frames));

	assert_non_null(frames);
	for (size_t i = 0; i < n; i++)
		frames[i] = (struct call_frame){.name = i % 2 ? "odd" : "even", .dso = "deep"};
	assert_int_equal(call_tree_add(tree, frames, n, weight), 0);
	free(frames);
}

struct text {
	char *data;
	size_t size;
	FILE *out;
};

static inline FILE *text_stream(struct text *text)
{
	text->out = open_memstream(&text->data, &text->size);
	assert_non_null(text->out);
	return text->out;
}

static inline const char *text_finish(struct text *text)
{
	assert_int_equal(fclose(text->out), 0);
	assert_int_equal(strlen(text->data), text->size);
	return text->data;
}

#endif
