// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/main_start.h"

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
