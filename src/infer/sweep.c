// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/vector.h"
#include "infer/program_code.h"
#include "infer/x86_insn.h"

/* Instructions of an entry that are looked at; it has about a dozen. */
#define MOST_INSTRUCTIONS 64
/* Functions on the way from it to __libc_start_main(): musl has one. */
#define MOST_FUNCTIONS 2

/* Arguments of __libc_start_main() that are functions: main, and those that older ones take. */
static bool is_argument(unsigned int reg)
{
	return reg == X86_DI || reg == X86_CX || reg == X86_R8;
}

/* One instruction.  false: no more are looked at. */
static bool look(struct program *p, const struct x86_insn *insn, uint64_t *callee, int *r)
{
	const uint64_t value = (uint64_t)insn->value;

	if ((insn->op == OP_CONSTANT ||
	     (insn->op == OP_LEA && insn->base == X86_NO_REG && insn->index == X86_NO_REG)) &&
	    is_argument(insn->reg) && program_code(p, value))
		*r = program_add_start(p, value, START_CALLED);
	if (insn->op == OP_CALL || insn->op == OP_JUMP)
		*callee = value;
	return !*r && insn->op != OP_CALL && insn->op != OP_BRANCH && x86_goes_on(insn);
}

int main_start_find(struct program *program, const struct x86_decoder *decoder)
{
	uint64_t at = 0;
	int r = 0;

	for (size_t i = 0; i < program->start_count; i++)
		if (program->starts[i].flags & START_ENTRY)
			at = program->starts[i].addr;
	for (unsigned int function = 0; at && function < MOST_FUNCTIONS && !r; function++) {
		uint64_t callee = 0, size;
		const uint8_t *code;
		struct x86_insn insn = {0};

		for (unsigned int i = 0; i < MOST_INSTRUCTIONS; i++, at += insn.len) {
			code = program_code(program, at) ? program_bytes(program, at, &size) : NULL;
			if (!code)
				break;
			x86_decode(decoder, code, size, at, &insn);
			if (!look(program, &insn, &callee, &r))
				break;
		}
		at = callee;
	}
	return r;
}

static int take_address(struct program *p, uint64_t address)
{
	if (program_code(p, address))
		return program_add_start(p, address, START_POINTER);
	return vector_push(p->tables, p->table_count, p->table_capacity, address);
}

static int take(struct program *p, const struct x86_insn *insn, uint64_t next)
{
	const uint64_t target = (uint64_t)insn->value;
	uint64_t callee;

	switch (insn->op) {
	case OP_CALL:
		return target == next ? 0 : program_add_start(p, target, START_CALLED);
	case OP_CALL_SLOT:
		/* another function's address may be stored there, but this is one's */
		if (program_word(p, target, &callee) && program_code(p, callee))
			return program_add_start(p, callee, START_CALLED);
		return 0;
	case OP_LEA:
	case OP_LOAD:
	case OP_JUMP_MEM:
		/* a load has the address of a table if it has an index */
		if (insn->base == X86_NO_REG && (insn->op == OP_LEA) == (insn->index == X86_NO_REG))
			return take_address(p, target);
		return 0;
	default:
		return 0;
	}
}

/* Zero bytes between functions would be read as instructions that end anywhere. */
static uint64_t skip_zeros(const uint8_t *code, uint64_t size)
{
	uint64_t n = 0;

	while (n < size && !code[n])
		n++;
	return n;
}

static int sweep_range(struct program *p, const struct x86_decoder *decoder, uint64_t start,
		       uint64_t end)
{
	uint64_t size;
	const uint8_t *code = program_bytes(p, start, &size);
	struct x86_insn insn = {0};
	bool ended = false;
	int r = 0;

	if (!code)
		return 0;
	if (size > end - start)
		size = end - start;
	for (uint64_t at = 0; at < size && !r; at += insn.len) {
		if (ended)
			at += skip_zeros(code + at, size - at);
		if (at == size)
			break;
		x86_decode(decoder, code + at, size - at, start + at, &insn);
		ended = insn.op == OP_RETURN || insn.op == OP_JUMP || insn.op == OP_STOP;
		r = take(p, &insn, start + at + insn.len);
	}
	return r;
}

int sweep_program(struct program *program, const struct x86_decoder *decoder)
{
	/* those that are found are appended, out of order */
	const size_t count = program->start_count;
	int r = 0;

	for (size_t i = 0; i < program->code.count && !r; i++) {
		uint64_t at = program->code.ranges[i].start, end = program->code.ranges[i].end;

		for (size_t s = 0; s < count && !r; s++) {
			uint64_t start = program->starts[s].addr;

			if (start <= at || start >= end)
				continue;
			r = sweep_range(program, decoder, at, start);
			at = start;
		}
		if (!r)
			r = sweep_range(program, decoder, at, end);
	}
	return r ? r : program_settle(program);
}
