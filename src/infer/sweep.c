// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/vector.h"
#include "infer/frame_state.h"
#include "infer/program_code.h"

/* Instructions of an entry that are looked at; it has about a dozen. */
#define MOST_INSTRUCTIONS 64
/* Instructions of main() that are looked at for a jump. */
#define MOST_BEFORE_JUMP 3
/* Functions on the way from it to __libc_start_main(): musl has one. */
#define MOST_FUNCTIONS 2

/* Arguments of __libc_start_main() that are functions: main, and those that older ones take. */
static const uint8_t function_arguments[] = {0, 3, 4};

/* A function, and what it jumps to at once: static linking may put such a one before main(). */
static int add_function(struct program *p, const struct insn_decoder *decoder, uint64_t addr)
{
	struct insn insn = {0};
	uint64_t size;
	int r = program_add_start(p, addr, START_CALLED);

	for (unsigned int i = 0; i < MOST_BEFORE_JUMP && !r; i++, addr += insn.len) {
		const uint8_t *code = program_code(p, addr) ? program_bytes(p, addr, &size) : NULL;

		if (!code)
			return 0;
		insn_decode(decoder, code, size, addr, &insn);
		if (insn.op == OP_JUMP && program_code(p, (uint64_t)insn.value))
			return program_add_start(p, (uint64_t)insn.value, START_CALLED);
		if (insn.op != OP_NOTHING || insn.mask)
			return 0;
	}
	return r;
}

static int take_arguments(struct program *p, const struct insn_decoder *decoder,
			  const struct frame_state *state)
{
	int r = 0;

	for (size_t i = 0; i < sizeof(function_arguments) && !r; i++) {
		const value v = state->regs[p->machine->arguments[function_arguments[i]]];
		uint64_t address = (uint64_t)value_of_number(v);

		if (value_kind(v) != VALUE_CONSTANT &&
		    (value_kind(v) != VALUE_SLOT || !program_word(p, address, &address)))
			continue;
		if (program_code(p, address))
			r = add_function(p, decoder, address);
	}
	return r;
}

/* From a function's start to its first call or jump.  *@callee: where to, or 0. */
static int follow_entry(struct program *p, const struct insn_decoder *decoder, uint64_t at,
			uint64_t *callee)
{
	struct frame_state state;
	struct insn insn = {0};
	uint64_t size;

	*callee = 0;
	frame_state_entry(&state, p->machine);
	for (unsigned int i = 0; i < MOST_INSTRUCTIONS; i++, at += insn.len) {
		const uint8_t *code = program_code(p, at) ? program_bytes(p, at, &size) : NULL;

		if (!code)
			return 0;
		insn_decode(decoder, code, size, at, &insn);
		if (insn.op == OP_CALL || insn.op == OP_JUMP)
			*callee = (uint64_t)insn.value;
		if (insn_is_call(&insn) || insn.op == OP_JUMP || insn.op == OP_JUMP_MEM)
			return take_arguments(p, decoder, &state);
		if (insn.op == OP_BRANCH || !insn_goes_on(&insn))
			return 0;
		frame_state_step(&state, &insn, i);
	}
	return 0;
}

int main_start_find(struct program *program, const struct insn_decoder *decoder)
{
	uint64_t at = 0;
	int r = 0;

	for (size_t i = 0; i < program->start_count; i++)
		if (program->starts[i].flags & START_ENTRY)
			at = program->starts[i].addr;
	for (unsigned int function = 0; at && function < MOST_FUNCTIONS && !r; function++)
		r = follow_entry(program, decoder, at, &at);
	return r;
}

static int take_address(struct program *p, uint64_t address)
{
	if (program_code(p, address))
		return program_add_start(p, address, START_POINTER);
	return vector_push(p->tables, p->table_count, p->table_capacity, address);
}

/* Whether nothing runs on to an address: a number may be that of a function there. */
static bool stops_before(const struct program *p, uint64_t address)
{
	uint64_t size;
	const uint8_t *code = p->machine->stops_before && program_code(p, address - MACHINE_BEFORE)
				      ? program_bytes(p, address - MACHINE_BEFORE, &size)
				      : NULL;

	return code && size >= MACHINE_BEFORE && p->machine->stops_before(code);
}

static int take(struct program *p, const struct insn *insn, uint64_t next)
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
	case OP_CONSTANT:
		return p->absolute && program_code(p, target) && stops_before(p, target)
			       ? program_add_start(p, target, START_POINTER)
			       : 0;
	case OP_LEA:
	case OP_LOAD:
	case OP_JUMP_MEM:
		/* a load has the address of a table if it has an index */
		if (insn->base == NO_REG && (insn->op == OP_LEA) == (insn->index == NO_REG))
			return take_address(p, target);
		return 0;
	default:
		return 0;
	}
}

/* Zero bytes between functions would be read as instructions that end anywhere. */
static uint64_t skip_zeros(const struct machine *machine, const uint8_t *code, uint64_t size)
{
	uint64_t n = 0;

	while (n < size && machine_is_zero(machine, code + n, size - n))
		n += machine->shortest;
	return n < size ? n : size;
}

/* The addresses of pages that registers have, from one instruction to the next. */
struct page_regs {
	uint64_t page[INSN_REGS];
	uint32_t known;
};

/* An address that is computed from that of its page, as where instructions have few bits for it. */
static int take_from_page(struct program *p, const struct insn *insn, struct page_regs *pages)
{
	const bool based = insn->base < INSN_REGS && pages->known & 1u << insn->base;
	int r = 0;

	if (insn->op == OP_LEA && based && insn->index == NO_REG)
		r = take_address(p, pages->page[insn->base] + (uint64_t)insn->value);
	pages->known &= ~insn_changes(insn);
	if (insn_is_call(insn))
		pages->known &= ~p->machine->call_clobbers;
	if (insn->op == OP_CONSTANT && insn->reg < INSN_REGS) {
		pages->page[insn->reg] = (uint64_t)insn->value;
		pages->known |= 1u << insn->reg;
	}
	return r;
}

static int sweep_range(struct program *p, const struct insn_decoder *decoder, uint64_t start,
		       uint64_t end)
{
	uint64_t size;
	const uint8_t *code = program_bytes(p, start, &size);
	struct page_regs pages = {.known = 0};
	struct insn insn = {0};
	bool ended = false;
	int r = 0;

	if (!code)
		return 0;
	if (size > end - start)
		size = end - start;
	for (uint64_t at = 0; at < size && !r; at += insn.len) {
		if (ended)
			at += skip_zeros(p->machine, code + at, size - at);
		if (at == size)
			break;
		insn_decode(decoder, code + at, size - at, start + at, &insn);
		ended = insn.op == OP_RETURN || insn.op == OP_JUMP || insn.op == OP_STOP;
		r = take(p, &insn, start + at + insn.len);
		if (!r && !p->machine->stops_before)
			r = take_from_page(p, &insn, &pages);
	}
	return r;
}

int sweep_program(struct program *program, const struct insn_decoder *decoder)
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
