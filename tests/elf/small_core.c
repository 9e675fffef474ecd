/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "small_core.h"

#include <elf.h>
#include <string.h>

#define SEGMENTS 4
#define REGISTERS_AT 112
#define REGISTER_WORDS 34

struct writer {
	uint8_t *bytes;
	size_t size;
	bool big_endian;
};

static void put(struct writer *w, uint64_t value, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++) {
		unsigned int shift = 8 * (w->big_endian ? size - 1 - i : i);

		w->bytes[w->size++] = (uint8_t)(value >> shift);
	}
}

static void put_text(struct writer *w, const char *text, size_t size)
{
	size_t length = strlen(text);

	memcpy(w->bytes + w->size, text, length < size ? length : size);
	w->size += size;
}

static void put_header(struct writer *w, uint16_t type, uint16_t machine, uint16_t segments)
{
	put_text(w, ELFMAG, SELFMAG);
	put(w, ELFCLASS64, 1);
	put(w, w->big_endian ? ELFDATA2MSB : ELFDATA2LSB, 1);
	put(w, EV_CURRENT, 1);
	w->size = w->size - 7 + EI_NIDENT;
	put(w, type, 2);
	put(w, machine, 2);
	put(w, EV_CURRENT, 4);
	put(w, SMALL_CORE_CODE + 0x100, 8);
	put(w, sizeof(Elf64_Ehdr), 8);
	put(w, 0, 8);
	put(w, 0, 4);
	put(w, sizeof(Elf64_Ehdr), 2);
	put(w, sizeof(Elf64_Phdr), 2);
	put(w, segments, 2);
	put(w, sizeof(Elf64_Shdr), 2);
	put(w, 0, 4);
}

static void put_segment(struct writer *w, uint32_t type, uint32_t flags, uint64_t offset,
			uint64_t addr, uint64_t filesz, uint64_t memsz)
{
	put(w, type, 4);
	put(w, flags, 4);
	put(w, offset, 8);
	put(w, addr, 8);
	put(w, addr, 8);
	put(w, filesz, 8);
	put(w, memsz, 8);
	put(w, 4, 8);
}

/* Its size follows: put it with end_note(). */
static size_t begin_note(struct writer *w, uint32_t type, const char *name)
{
	put(w, strlen(name) + 1, 4);
	put(w, 0, 4);
	put(w, type, 4);
	put_text(w, name, (strlen(name) + 4) & ~(size_t)3);
	return w->size;
}

static void end_note(struct writer *w, size_t begin, const char *name)
{
	struct writer size = *w;

	size.size = begin - ((strlen(name) + 4) & ~(size_t)3) - 8;
	put(&size, w->size - begin, 4);
	w->size = (w->size + 3) & ~(size_t)3;
}

static void put_thread(struct writer *w, int number)
{
	size_t begin = begin_note(w, NT_PRSTATUS, "CORE");

	w->size += 32;
	put(w, (uint64_t)(SMALL_CORE_TID + number), 4);
	w->size = begin + REGISTERS_AT;
	for (uint64_t i = 0; i < REGISTER_WORDS; i++)
		put(w, SMALL_CORE_WORD * (uint64_t)!number + i, 8);
	end_note(w, begin, "CORE");
}

static void put_floats(struct writer *w)
{
	size_t begin = begin_note(w, NT_FPREGSET, "CORE");

	put(w, 0, 8);
	for (uint64_t i = 0; i < 16; i++)
		put(w, SMALL_CORE_FLOAT + i, 8);
	end_note(w, begin, "CORE");
}

static void put_program(struct writer *w)
{
	size_t begin = begin_note(w, NT_PRPSINFO, "CORE");

	w->size += 24;
	put(w, SMALL_CORE_TID, 4);
	w->size = begin + 40;
	put_text(w, "program", 16);
	put_text(w, "./program --now ", 80);
	end_note(w, begin, "CORE");
	begin = begin_note(w, NT_SIGINFO, "CORE");
	put(w, 11, 4);
	put(w, 0, 4);
	put(w, 1, 4);
	put(w, 0, 4);
	put(w, 0x1234, 8);
	w->size = begin + 128;
	end_note(w, begin, "CORE");
}

static void put_places(struct writer *w)
{
	size_t begin = begin_note(w, NT_AUXV, "CORE");

	put(w, AT_PHDR, 8);
	put(w, SMALL_CORE_CODE + sizeof(Elf64_Ehdr), 8);
	put(w, AT_ENTRY, 8);
	put(w, SMALL_CORE_CODE + 0x100, 8);
	end_note(w, begin, "CORE");
	begin = begin_note(w, NT_FILE, "CORE");
	put(w, 1, 8);
	put(w, SMALL_CORE_PAGE, 8);
	put(w, SMALL_CORE_CODE, 8);
	put(w, SMALL_CORE_CODE + 2 * SMALL_CORE_PAGE, 8);
	put(w, 0, 8);
	put_text(w, SMALL_CORE_PATH, sizeof(SMALL_CORE_PATH));
	end_note(w, begin, "CORE");
}

/* The first page of the program: headers and a build ID of 20 equal bytes. */
static void put_program_page(struct writer *w, uint16_t machine)
{
	const size_t begin = w->size;
	size_t note;

	put_header(w, ET_EXEC, machine, 2);
	put_segment(w, PT_LOAD, PF_R | PF_X, 0, SMALL_CORE_CODE, 2 * SMALL_CORE_PAGE,
		    2 * SMALL_CORE_PAGE);
	put_segment(w, PT_NOTE, PF_R, 0x200, SMALL_CORE_CODE + 0x200, 36, 36);
	w->size = begin + 0x200;
	note = begin_note(w, 3, "GNU");
	memset(w->bytes + w->size, 0xab, 20);
	w->size += 20;
	end_note(w, note, "GNU");
	w->size = begin + SMALL_CORE_PAGE;
}

size_t small_core_make(uint16_t machine, bool big_endian, uint8_t ret[SMALL_CORE_MAX])
{
	struct writer w = {.bytes = ret, .big_endian = big_endian};
	const size_t notes = sizeof(Elf64_Ehdr) + SEGMENTS * sizeof(Elf64_Phdr);
	size_t memory;

	memset(ret, 0, SMALL_CORE_MAX);
	w.size = notes;
	put_thread(&w, 0);
	put_program(&w);
	put_places(&w);
	put_floats(&w);
	put_thread(&w, 1);
	memory = w.size;
	w.size = 0;
	put_header(&w, ET_CORE, machine, SEGMENTS);
	put_segment(&w, PT_NOTE, 0, notes, 0, memory - notes, 0);
	put_segment(&w, PT_LOAD, PF_R | PF_X, memory, SMALL_CORE_CODE, SMALL_CORE_PAGE,
		    2 * SMALL_CORE_PAGE);
	put_segment(&w, PT_LOAD, PF_R | PF_X, memory + SMALL_CORE_PAGE, SMALL_CORE_MADE,
		    SMALL_CORE_PAGE, SMALL_CORE_PAGE);
	put_segment(&w, PT_LOAD, PF_R | PF_W, memory + 2 * SMALL_CORE_PAGE, SMALL_CORE_STACK,
		    SMALL_CORE_PAGE, SMALL_CORE_PAGE);
	w.size = memory;
	put_program_page(&w, machine);
	w.size += SMALL_CORE_PAGE;
	for (uint64_t at = 0; at < SMALL_CORE_PAGE; at += 8)
		put(&w, SMALL_CORE_STACK + at, 8);
	return w.size;
}
