/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "rpn_compiler.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 32 /* of nested conditions */

/* What the call and "push %rbp" have put between %rsp and the CFA. */
#define ON_ENTRY 8
#define WITH_RBP 16

struct branch {
	uint32_t jump;  /* offset of the displacement to be filled in */
	uint32_t depth; /* values on the stack where it began */
	bool has_else;
};

struct compiler {
	struct rpn_function *f;
	rpn_find find;
	void *ctx;
	uint32_t depth; /* values on the stack */
	struct branch branches[MAX_DEPTH];
	unsigned int branch_count;
	int error;
};

static void emit(struct compiler *c, const void *bytes, uint32_t size)
{
	if (c->error || size > RPN_MAX_CODE - c->f->size) {
		c->error = c->error ? c->error : -E2BIG;
		return;
	}
	memcpy(c->f->code + c->f->size, bytes, size);
	c->f->size += size;
}

#define EMIT(c, ...) emit(c, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* From here on the CFA is %rsp + @cfa_off, and the caller's %rbp is saved at CFA - 16 or not. */
static void row(struct compiler *c, uint32_t cfa_off, bool rbp_saved)
{
	struct rpn_function *f = c->f;

	if (f->row_count && f->rows[f->row_count - 1].start == f->size)
		f->row_count--;
	if (f->row_count == RPN_MAX_ROWS) {
		c->error = -E2BIG;
		return;
	}
	f->rows[f->row_count++] = (struct bobbin_sframe_row){
		.start = f->size,
		.rule = bobbin_jit_rule_sp(bobbin_arch_amd64(), (int32_t)cfa_off, 0,
					   rbp_saved ? -WITH_RBP : 0),
	};
}

/* So many values are on the stack now. */
static void set_depth(struct compiler *c, uint32_t depth)
{
	c->depth = depth;
	row(c, WITH_RBP + 8 * depth, true);
}

static struct branch *innermost(struct compiler *c)
{
	return c->branch_count ? &c->branches[c->branch_count - 1] : NULL;
}

/* There are this many values to take, which were pushed in this branch. */
static bool has(struct compiler *c, uint32_t values)
{
	const struct branch *b = innermost(c);

	if (c->depth >= (b ? b->depth : 0) + values)
		return true;
	c->error = -EINVAL;
	return false;
}

static void push_rax(struct compiler *c)
{
	EMIT(c, 0x50);
	set_depth(c, c->depth + 1);
}

static void pop_rax(struct compiler *c)
{
	EMIT(c, 0x58);
	set_depth(c, c->depth - 1);
}

static void load_rax(struct compiler *c, uint64_t value)
{
	EMIT(c, 0x48, 0xb8);
	emit(c, &value, sizeof(value));
}

static void operate(struct compiler *c, char operator)
{
	if (!has(c, 2))
		return;
	EMIT(c, 0x59); /* pop %rcx */
	set_depth(c, c->depth - 1);
	pop_rax(c);
	switch (operator) {
	case '+':
		EMIT(c, 0x48, 0x01, 0xc8); /* add %rcx, %rax */
		break;
	case '-':
		EMIT(c, 0x48, 0x29, 0xc8); /* sub %rcx, %rax */
		break;
	case '*':
		EMIT(c, 0x48, 0x0f, 0xaf, 0xc1); /* imul %rcx, %rax */
		break;
	default:
		EMIT(c, 0x48, 0x39, 0xc8); /* cmp %rcx, %rax */
		EMIT(c, 0x0f, 0x9c, 0xc0); /* setl %al */
		EMIT(c, 0x0f, 0xb6, 0xc0); /* movzbl %al, %eax */
	}
	push_rax(c);
}

/* The stack is aligned to 16 bytes where a function is called. */
static void call(struct compiler *c, uint64_t function)
{
	bool pad;

	if (!has(c, 1))
		return;
	EMIT(c, 0x5f); /* pop %rdi */
	set_depth(c, c->depth - 1);
	pad = c->depth % 2;
	if (pad) {
		EMIT(c, 0x48, 0x83, 0xec, 0x08); /* sub $8, %rsp */
		row(c, WITH_RBP + 8 * (c->depth + 1), true);
	}
	load_rax(c, function);
	EMIT(c, 0xff, 0xd0); /* call *%rax */
	if (pad) {
		EMIT(c, 0x48, 0x83, 0xc4, 0x08); /* add $8, %rsp */
		row(c, WITH_RBP + 8 * c->depth, true);
	}
	push_rax(c);
}

static uint32_t jump_place(struct compiler *c)
{
	EMIT(c, 0, 0, 0, 0);
	return c->f->size - 4;
}

static void fill_jump(struct compiler *c, uint32_t place)
{
	uint32_t distance = c->f->size - (place + 4);

	if (!c->error)
		memcpy(c->f->code + place, &distance, sizeof(distance));
}

static void begin_if(struct compiler *c)
{
	if (!has(c, 1) || c->branch_count == MAX_DEPTH) {
		c->error = -EINVAL;
		return;
	}
	pop_rax(c);
	EMIT(c, 0x48, 0x85, 0xc0); /* test %rax, %rax */
	EMIT(c, 0x0f, 0x84);       /* je */
	c->branches[c->branch_count++] = (struct branch){jump_place(c), c->depth, false};
}

static void begin_else(struct compiler *c)
{
	struct branch *b = innermost(c);
	uint32_t jump;

	if (!b || b->has_else || c->depth != b->depth + 1) {
		c->error = -EINVAL;
		return;
	}
	EMIT(c, 0xe9); /* jmp */
	jump = jump_place(c);
	fill_jump(c, b->jump);
	b->jump = jump;
	b->has_else = true;
	set_depth(c, b->depth);
}

static void end_if(struct compiler *c)
{
	struct branch *b = innermost(c);

	if (!b || !b->has_else || c->depth != b->depth + 1) {
		c->error = -EINVAL;
		return;
	}
	fill_jump(c, b->jump);
	c->branch_count--;
}

static void compile_word(struct compiler *c, const char *word)
{
	char *end;
	long long number = strtoll(word, &end, 10);
	uint64_t function;

	if (end != word && !*end) {
		load_rax(c, (uint64_t)number);
		push_rax(c);
	} else if (!strcmp(word, "n")) {
		EMIT(c, 0x55); /* push %rbp */
		set_depth(c, c->depth + 1);
	} else if (!word[1] && strchr("+-*<", *word)) {
		operate(c, *word);
	} else if (!strcmp(word, "if")) {
		begin_if(c);
	} else if (!strcmp(word, "else")) {
		begin_else(c);
	} else if (!strcmp(word, "end")) {
		end_if(c);
	} else {
		function = strcmp(word, c->f->name) ? c->find(c->ctx, word) : c->f->start;
		if (function)
			call(c, function);
		else
			c->error = -EINVAL;
	}
}

static void begin_function(struct compiler *c)
{
	row(c, ON_ENTRY, false);
	EMIT(c, 0x55); /* push %rbp */
	set_depth(c, 0);
	EMIT(c, 0x48, 0x89, 0xfd); /* mov %rdi, %rbp */
}

static void end_function(struct compiler *c)
{
	if (c->branch_count || c->depth != 1) {
		c->error = -EINVAL;
		return;
	}
	pop_rax(c);
	EMIT(c, 0x5d); /* pop %rbp */
	row(c, ON_ENTRY, false);
	EMIT(c, 0xc3); /* ret */
}

/* The next word of a definition; false: it is too long, or there is none. */
static bool next_word(const char **text, char word[RPN_MAX_NAME])
{
	size_t size;

	*text += strspn(*text, " \t\n");
	size = strcspn(*text, " \t\n");
	if (!size || size >= RPN_MAX_NAME)
		return false;
	memcpy(word, *text, size);
	word[size] = '\0';
	*text += size;
	return true;
}

int rpn_compile(const char *definition, uint64_t start, rpn_find find, void *ctx,
		struct rpn_function *ret)
{
	struct compiler c = {.f = ret, .find = find, .ctx = ctx};
	char word[RPN_MAX_NAME];

	ret->start = start;
	ret->size = ret->row_count = 0;
	if (!next_word(&definition, word) || strcmp(word, ":") ||
	    !next_word(&definition, ret->name))
		return -EINVAL;
	begin_function(&c);
	for (;;) {
		if (!next_word(&definition, word))
			return -EINVAL;
		if (c.error || !strcmp(word, ";"))
			break;
		compile_word(&c, word);
	}
	if (!c.error)
		end_function(&c);
	return c.error;
}
