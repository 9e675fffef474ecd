/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * x86_path_test FILE... - the instructions of files, beside what Zydis says of them.
 *
 * Each has the same size, and what changes the stack pointer or the frame pointer is never
 * taken for something that does not.
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <Zydis/Zydis.h>

#include "core/code_path.h"
#include "core/x86_bytes.h"

#define MOST_SHOWN 10

struct counts {
	uint64_t instructions, refused, sizes, missed;
};

static bool is_register(ZydisRegister reg, ZydisRegister wide)
{
	return reg != ZYDIS_REGISTER_NONE &&
	       ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg) == wide;
}

static bool writes(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
		   ZydisRegister reg)
{
	for (unsigned int i = 0; i < insn->operand_count; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    is_register(operands[i].reg.value, reg))
			return true;
	return false;
}

static bool is_as_before(const struct code_value *v, enum code_base base)
{
	return v->base == base && !v->loaded && v->off == (base == CODE_FP ? 8 : 0);
}

/* Whether a register is written and the path has it as before; calls give it back. */
static bool is_missed(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
		      const uint8_t code[CODE_PATH_BYTES])
{
	struct code_path path;

	code_path_begin(0x1000, true, false, false, &path);
	/* without a local variable of the frame */
	path.fp.off = 8;
	if (x86_path_turn(&path, code) != CODE_TURN_ON ||
	    insn->meta.category == ZYDIS_CATEGORY_CALL)
		return false;
	return (writes(insn, operands, ZYDIS_REGISTER_RSP) && is_as_before(&path.sp, CODE_SP)) ||
	       (writes(insn, operands, ZYDIS_REGISTER_RBP) && is_as_before(&path.fp, CODE_FP));
}

static void show(const char *what, const uint8_t *code, size_t size, uint64_t number)
{
	if (number >= MOST_SHOWN)
		return;
	printf("%s:", what);
	for (size_t i = 0; i < size; i++)
		printf(" %02x", code[i]);
	putchar('\n');
}

static size_t look(const ZydisDecoder *decoder, const uint8_t *code, size_t size,
		   struct counts *counts)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	struct x86_bytes ours;

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(decoder, code, size, &insn, operands)))
		return 1;
	counts->instructions++;
	if (!x86_bytes_split(code, &ours)) {
		show("refused", code, insn.length, counts->refused++);
	} else if (ours.size != insn.length) {
		show("another size", code, insn.length, counts->sizes++);
	} else if (is_missed(&insn, operands, code)) {
		show("a change is missed", code, insn.length, counts->missed++);
	}
	return insn.length;
}

static void look_at_code(const uint8_t *code, size_t size, struct counts *counts)
{
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t at = 0; at + 2 * CODE_PATH_BYTES < size;)
		at += look(&decoder, code + at, size - at, counts);
}

/* The executable segments of a file that is mapped. */
static void look_at_segments(const uint8_t *file, struct counts *counts)
{
	const Elf64_Ehdr *header = (const void *)file;
	const Elf64_Phdr *phdr = (const void *)(file + header->e_phoff);

	for (unsigned int i = 0; i < header->e_phnum; i++)
		if (phdr[i].p_type == PT_LOAD && phdr[i].p_flags & PF_X)
			look_at_code(file + phdr[i].p_offset, phdr[i].p_filesz, counts);
}

static int look_at_file(const char *path, struct counts *counts)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *file;

	if (fd < 0)
		return 1;
	file = fstat(fd, &st) ? MAP_FAILED
			      : mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		return 1;
	look_at_segments(file, counts);
	munmap(file, (size_t)st.st_size);
	return 0;
}

int main(int argc, char **argv)
{
	struct counts counts = {0};

	for (int i = 1; i < argc; i++)
		if (look_at_file(argv[i], &counts)) {
			printf("%s: cannot be read\n", argv[i]);
			return 1;
		}
	printf("%" PRIu64 " instructions: %" PRIu64 " refused, %" PRIu64
	       " of another size, %" PRIu64 " changes missed\n",
	       counts.instructions, counts.refused, counts.sizes, counts.missed);
	/* data among the code is decoded, too: there nobody emits what is refused */
	return counts.instructions < 100000 || counts.sizes || counts.missed ||
	       counts.refused > counts.instructions / 200;
}
