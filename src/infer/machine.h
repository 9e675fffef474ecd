/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * machine.h - the machines whose code is read.
 *
 *	machine = machine_of(elf.e_machine, elf.e_ident[EI_DATA]);
 *	decoder = machine ? insn_decoder_open(machine) : NULL;
 *	insn_decode(decoder, code, size, pc, &insn);
 */
#ifndef BOBBIN_INFER_MACHINE_H
#define BOBBIN_INFER_MACHINE_H

#include <bobbin/arch.h>
#include <stddef.h>

#include "infer/insn.h"

struct insn_decoder;

/* Most arguments of a function in registers. */
#define MACHINE_ARGUMENTS 8

#define INSN_TEXT_MAX 96

/**
 * struct machine - what the analysis has to know of one
 * @arch: it
 * @exists: whether instructions can be decoded here: false without the library that does it
 * @open: NULL: out of memory, or there is none
 * @close: also NULL
 * @decode: one instruction of at most @size bytes at address @pc; what is none becomes OP_BAD of
 *	@shortest bytes, or of as many as there are; @ret->at is left alone
 * @text: an instruction as assemblers write it; "" for what is none
 * @is_padding: whether an instruction only fills up to where the next function or loop begins
 * @stub_slot: the word through which a stub of a procedure linkage table jumps; false: it is none
 * @stops_before: whether nothing seems to run on to the code at @code + MACHINE_BEFORE, of which a
 *	number may be the address; NULL: code has no addresses as numbers
 * @dwarf: DWARF's numbers of the registers
 * @call_clobbers: registers that calls may change
 * @arguments: registers with the first arguments of a function, then NO_REG
 * @entry_sp: the stack pointer at a function's start, from the CFA on
 * @regs: how many there are
 * @sp, @fp: stack and frame pointer
 * @ra: where calls leave the return address; NO_REG: on top of the stack
 * @shortest: bytes of the shortest instruction
 * @alignment: functions that follow others without padding begin at multiples of it
 */
struct machine {
	const struct bobbin_arch *(*arch)(void);
	bool (*exists)(void);
	struct insn_decoder *(*open)(void);
	void (*close)(struct insn_decoder *decoder);
	void (*decode)(const struct insn_decoder *decoder, const uint8_t *code, uint64_t size,
		       uint64_t pc, struct insn *ret);
	void (*text)(const struct insn_decoder *decoder, const uint8_t *code, uint64_t size,
		     uint64_t pc, char ret[INSN_TEXT_MAX]);
	bool (*is_padding)(const uint8_t *code, unsigned int len);
	bool (*stub_slot)(const uint8_t *code, uint64_t size, uint64_t addr, uint64_t *ret);
	bool (*stops_before)(const uint8_t *code);
	const uint8_t *dwarf;
	uint32_t call_clobbers;
	uint8_t arguments[MACHINE_ARGUMENTS];
	int8_t entry_sp;
	uint8_t regs, sp, fp, ra, shortest, alignment;
};

/* Bytes before an address that stops_before() looks at. */
#define MACHINE_BEFORE 5

extern const struct machine machine_amd64, machine_aarch64;

/* By what ELF files say, with their byte order; NULL: there is none whose code is read. */
const struct machine *machine_of(unsigned int elf_machine, unsigned int byte_order);

/* Likewise, by the architecture; NULL, too, if this build cannot decode its instructions. */
const struct machine *machine_read_here(const struct bobbin_arch *arch);

/* Whether this build can decode the instructions of any machine. */
bool machine_any_is_read(void);

/* Those of all machines begin with it. */
struct insn_decoder {
	const struct machine *machine;
};

static inline struct insn_decoder *insn_decoder_open(const struct machine *machine)
{
	return machine->open();
}

static inline void insn_decoder_close(struct insn_decoder *decoder)
{
	if (decoder)
		decoder->machine->close(decoder);
}

static inline void insn_decode(const struct insn_decoder *decoder, const uint8_t *code,
			       uint64_t size, uint64_t pc, struct insn *ret)
{
	decoder->machine->decode(decoder, code, size, pc, ret);
}

/* Whether an instruction's bytes are zero, which none is that runs. */
static inline bool machine_is_zero(const struct machine *machine, const uint8_t *code,
				   uint64_t size)
{
	for (unsigned int i = 0; i < machine->shortest && i < size; i++)
		if (code[i])
			return false;
	return true;
}

/* The register with one of DWARF's numbers, or NO_REG. */
static inline unsigned int machine_reg(const struct machine *machine, unsigned int dwarf)
{
	for (unsigned int reg = 0; reg < machine->regs; reg++)
		if (machine->dwarf[reg] == dwarf)
			return reg;
	return NO_REG;
}

#endif
