/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * x86_meaning_test FILE... - the instructions of files' .text, beside what others say of them.
 *
 * Each has the length that objdump says, goes where objdump says that control goes, and changes
 * all registers and memory that Zydis says it writes: most instructions are decoded by tables of
 * opcodes, without asking Zydis about operands.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "base/vector.h"
#include "infer/x86_decode.h"

#define MOST_SHOWN 10
#define MOST_BYTES 15
#define MASK(reg) (1u << (reg))

/* A line of objdump's: an instruction. */
struct line {
	uint64_t pc;
	size_t at; /* of its bytes in all bytes */
	unsigned int len;
	char text[80];
};

struct listing {
	struct line *lines;
	size_t count, capacity;
	uint8_t *bytes;
	size_t size, room;
};

struct faults {
	uint64_t instructions, lengths, controls, targets, registers, memory;
};

static bool read_line(struct listing *l, const char *text)
{
	struct line line = {.at = l->size};
	char *end;

	line.pc = strtoull(text, &end, 16);
	if (*end != ':' || end == text)
		return true;
	/* a tab, "48 89 f7", spaces, a tab, text */
	text = end + strspn(end, ":\t");
	for (; isxdigit((unsigned char)*text) && text[2] == ' '; text += 3, line.len++)
		if (vector_push(l->bytes, l->size, l->room, (uint8_t)strtoul(text, NULL, 16)))
			return false;
	text += strspn(text, " \t");
	snprintf(line.text, sizeof(line.text), "%.*s", (int)strcspn(text, "\n"), text);
	return !line.len || !vector_push(l->lines, l->count, l->capacity, line);
}

/* false: there is no objdump, or it fails. */
static bool list(const char *path, struct listing *ret)
{
	char command[256], *text = NULL;
	size_t room = 0;
	FILE *pipe;
	bool good = true;

	snprintf(command, sizeof(command), "objdump -d -w -j .text '%s' 2>&1", path);
	pipe = popen(command, "r");
	while (pipe && good && getline(&text, &room, pipe) > 0)
		good = read_line(ret, text);
	free(text);
	return pipe && !pclose(pipe) && good;
}

static bool is_word(const char *word, size_t length, const char *list)
{
	for (const char *at = list; (at = strstr(at, word)); at++)
		if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
			return true;
	return false;
}

/* The mnemonic without prefixes and suffix, and the operands after it. */
static const char *split(const char *text, char ret[16])
{
	static const char prefixes[] = "bnd notrack repz repnz rep lock data16 addr32 cs ds es ss "
				       "fs gs rex.W";
	static const char sized[] = "ret call jmp leave push pop";
	size_t length;

	for (;; text += length + strspn(text + length, " ")) {
		length = strcspn(text, " ");
		snprintf(ret, 16, "%.*s", (int)(length < 15 ? length : 15), text);
		if (!is_word(ret, length, prefixes) || !text[length])
			break;
	}
	length = strlen(ret);
	if (length > 3 && (ret[length - 1] == 'q' || ret[length - 1] == 'w')) {
		char last = ret[length - 1];

		ret[length - 1] = 0;
		if (!is_word(ret, length - 1, sized))
			ret[length - 1] = last;
	}
	text += strcspn(text, " ");
	return text + strspn(text, " ");
}

static uint8_t by_name(const char *name, const char *operands)
{
	const bool through = *operands == '*', slot = strstr(operands, "(%rip)");

	if (!strcmp(name, "ret"))
		return OP_RETURN;
	if (!strcmp(name, "call"))
		return through ? (slot ? OP_CALL_SLOT : OP_CALL_OTHER) : OP_CALL;
	if (!strcmp(name, "jmp"))
		return through ? (operands[1] == '%' ? OP_JUMP_REG : OP_JUMP_MEM) : OP_JUMP;
	if (*name == 'j' || !strncmp(name, "loop", 4))
		return OP_BRANCH;
	if (!strcmp(name, "push") || !strncmp(name, "pushf", 5))
		return OP_PUSH;
	if (!strcmp(name, "pop") || !strncmp(name, "popf", 4))
		return OP_POP;
	if (!strcmp(name, "leave"))
		return OP_LEAVE;
	return is_word(name, strlen(name), "hlt ud2 int3") ? OP_STOP : OP_NOTHING;
}

/* What by_name() tells apart. */
static uint8_t folded(uint8_t op)
{
	switch (op) {
	case OP_PUSH:
	case OP_POP:
	case OP_LEAVE:
	case OP_CALL:
	case OP_CALL_SLOT:
	case OP_CALL_OTHER:
	case OP_RETURN:
	case OP_JUMP:
	case OP_BRANCH:
	case OP_JUMP_REG:
	case OP_JUMP_MEM:
	case OP_STOP:
	case OP_BAD:
		return op;
	default:
		return OP_NOTHING;
	}
}

static bool goes_there(const struct insn *insn, const char *operands)
{
	const char *address = insn->op == OP_CALL_SLOT ? strstr(operands, "# ") : operands;

	if (insn->op != OP_CALL && insn->op != OP_JUMP && insn->op != OP_BRANCH &&
	    insn->op != OP_CALL_SLOT)
		return true;
	address += insn->op == OP_CALL_SLOT ? 2 : 0;
	return strtoull(address, NULL, 16) == (uint64_t)insn->value;
}

/* The registers that it changes, as we say. */
static unsigned int changed(const struct insn *insn)
{
	const unsigned int reg = insn->reg < X86_REGS ? MASK(insn->reg) : 0;

	switch (insn->op) {
	case OP_MOVE:
	case OP_CONSTANT:
	case OP_LEA:
	case OP_ADD:
	case OP_ADD_REG:
	case OP_SUB_REG:
	case OP_ALIGN:
	case OP_LOAD:
	case OP_LOAD_S32:
	case OP_EXTEND:
		return insn->mask | reg;
	case OP_POP:
		return insn->mask | reg | MASK(X86_SP);
	case OP_SWAP:
		return insn->mask | reg | MASK(insn->base);
	case OP_LEAVE:
	case OP_ENTER:
		return insn->mask | MASK(X86_SP) | MASK(X86_BP);
	case OP_PUSH:
	case OP_CALL:
	case OP_CALL_SLOT:
	case OP_CALL_OTHER:
	case OP_RETURN:
		return insn->mask | MASK(X86_SP);
	default:
		return insn->mask;
	}
}

/* The general registers that are written, and whether memory is, beside what is pushed. */
static unsigned int written(const ZydisDecodedInstruction *insn,
			    const ZydisDecodedOperand *operands, bool *memory)
{
	unsigned int regs = 0;

	*memory = false;
	for (unsigned int i = 0; i < insn->operand_count; i++) {
		const ZydisDecodedOperand *o = &operands[i];
		ZydisRegister wide;

		if (!(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		*memory |= o->type == ZYDIS_OPERAND_TYPE_MEMORY &&
			   o->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN;
		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		wide = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, o->reg.value);
		if (ZydisRegisterGetClass(wide) == ZYDIS_REGCLASS_GPR64)
			regs |= MASK((unsigned int)ZydisRegisterGetId(wide));
	}
	return regs;
}

static void show(const char *what, const struct line *line, uint64_t number)
{
	if (number < MOST_SHOWN)
		printf("%s: %#" PRIx64 " %s\n", what, line->pc, line->text);
}

static void check_operands(const struct line *line, const uint8_t *code, const struct insn *insn,
			   const ZydisDecoder *zydis, struct faults *faults)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction theirs;
	bool memory;

	if (insn->op == OP_BAD ||
	    ZYAN_FAILED(ZydisDecoderDecodeFull(zydis, code, line->len, &theirs, operands)))
		return;
	if (written(&theirs, operands, &memory) & ~changed(insn))
		show("a register is missed", line, faults->registers++);
	if (memory && insn->op != OP_STORE && insn->op != OP_POP)
		show("a store is missed", line, faults->memory++);
}

static void check_line(const struct listing *l, size_t i, const struct insn_decoder *decoder,
		       const ZydisDecoder *zydis, struct faults *faults)
{
	const struct line *line = &l->lines[i];
	const uint8_t *code = l->bytes + line->at;
	const size_t left = l->size - line->at;
	struct insn insn = {0};
	const char *operands;
	char name[16];

	/* objdump takes the byte 9b, which waits for the FPU, for a prefix */
	if (strstr(line->text, "(bad)") || *code == 0x9b)
		return;
	faults->instructions++;
	x86_decode(decoder, code, left < MOST_BYTES ? left : MOST_BYTES, line->pc, &insn);
	operands = split(line->text, name);
	if (insn.len != line->len)
		show("another length", line, faults->lengths++);
	else if (folded(insn.op) != by_name(name, operands))
		show("another kind", line, faults->controls++);
	else if (!goes_there(&insn, operands))
		show("another target", line, faults->targets++);
	else
		check_operands(line, code, &insn, zydis, faults);
}

static bool check_file(const char *path, struct faults *faults)
{
	struct insn_decoder *decoder = x86_decoder_open();
	struct listing listing = {0};
	ZydisDecoder zydis;
	bool good = decoder && list(path, &listing);

	ZydisDecoderInit(&zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t i = 0; i < listing.count && good; i++)
		check_line(&listing, i, decoder, &zydis, faults);
	x86_decoder_close(decoder);
	free(listing.lines);
	free(listing.bytes);
	return good;
}

int main(int argc, char **argv)
{
	struct faults f = {0};

	for (int i = 1; i < argc; i++)
		if (!check_file(argv[i], &f)) {
			printf("objdump cannot list %s\n", argv[i]);
			return 77;
		}
	printf("%" PRIu64 " instructions; other lengths: %" PRIu64 ", kinds: %" PRIu64
	       ", targets: %" PRIu64 "; registers missed: %" PRIu64 ", stores: %" PRIu64 "\n",
	       f.instructions, f.lengths, f.controls, f.targets, f.registers, f.memory);
	return f.instructions < 100000 || f.lengths || f.controls || f.targets || f.registers ||
	       f.memory;
}
