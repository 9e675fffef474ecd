/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Layouts are those of Linux, include/uapi/linux/elfcore.h and asm/ptrace.h, of its 64-bit
 * machines.
 */
#include "elf/core_notes.h"

#include <elf.h>
#include <signal.h>
#include <string.h>

#include "base/vector.h"
#include "core/bytes.h"
#include "core/s390x_float_regs.h"
#include "elf/elf_notes.h"

/* In NT_PRSTATUS. */
#define AT_TID 32
#define AT_REGISTERS 112
/* In NT_PRPSINFO. */
#define AT_PID 24
#define AT_NAME 40
#define AT_ARGUMENTS 56
/* In NT_SIGINFO: what a fault has there, and what a sender has. */
#define AT_CODE 8
#define AT_ADDRESS 16
/* In NT_FPREGSET of s390x, after the control word. */
#define AT_FLOATS 8

/* Where the words of registers are, by their DWARF numbers. */
struct register_words {
	uint16_t machine;
	uint8_t pc, count;
	uint8_t word[BOBBIN_REG_COUNT];
};

static const struct register_words register_words[] = {
	{EM_X86_64, 16, 16, {10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0}},
	{EM_AARCH64, 32, 32, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
			      16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}},
	{EM_S390, 1, 16, {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}},
};

static uint64_t word_at(const struct bytes *note, uint64_t offset)
{
	struct bytes b = *note;

	bytes_seek(&b, offset);
	return bytes_u64(&b);
}

static uint32_t half_at(const struct bytes *note, uint64_t offset)
{
	struct bytes b = *note;

	bytes_seek(&b, offset);
	return bytes_u32(&b);
}

static const struct register_words *words_of(const struct bobbin_arch *arch)
{
	for (size_t i = 0; i < sizeof(register_words) / sizeof(*register_words); i++)
		if (register_words[i].machine == arch->elf_machine)
			return &register_words[i];
	return NULL;
}

static int read_thread(struct core_file *core, const struct bytes *note)
{
	const struct register_words *words = words_of(core->arch);
	struct core_thread thread = {.tid = (int)half_at(note, AT_TID)};
	uint64_t last = AT_REGISTERS;

	if (!words)
		return 0;
	for (unsigned int i = 0; i < words->count; i++) {
		uint64_t at = AT_REGISTERS + 8 * (uint64_t)words->word[i];

		thread.gpr[i] = word_at(note, at);
		thread.known |= 1u << i;
		last = at > last ? at : last;
	}
	thread.pc = word_at(note, AT_REGISTERS + 8 * (uint64_t)words->pc);
	if (note->size < last + 8)
		return 0;
	return vector_push(core->threads, core->thread_count, core->thread_room, thread);
}

/* Of the thread whose registers came last. */
static void read_floats(struct core_file *core, const struct bytes *note)
{
	struct core_thread *thread;

	if (core->arch->elf_machine != EM_S390 || !core->thread_count ||
	    note->size < AT_FLOATS + 8 * S390X_FLOAT_REGS)
		return;
	thread = &core->threads[core->thread_count - 1];
	for (unsigned int i = 0; i < S390X_FLOAT_REGS; i++) {
		unsigned int number = s390x_float_dwarf(i);

		thread->gpr[number] = word_at(note, AT_FLOATS + 8 * (uint64_t)i);
		thread->known |= 1u << number;
	}
}

/* A string of at most @room - 1 bytes; blanks at its end are the kernel's. */
static void read_text(const struct bytes *note, uint64_t at, char *ret, size_t room)
{
	size_t length;

	memcpy(ret, note->data + at, room - 1);
	ret[room - 1] = 0;
	length = strlen(ret);
	while (length && ret[length - 1] == ' ')
		ret[--length] = 0;
}

static void read_program(struct core_file *core, const struct bytes *note)
{
	if (note->size < AT_ARGUMENTS + CORE_ARGUMENTS_SIZE - 1)
		return;
	core->pid = (int)half_at(note, AT_PID);
	read_text(note, AT_NAME, core->name, sizeof(core->name));
	read_text(note, AT_ARGUMENTS, core->arguments, sizeof(core->arguments));
}

static void read_signal(struct core_file *core, const struct bytes *note)
{
	struct core_signal *signal = &core->signal;

	if (note->size < AT_ADDRESS + 8)
		return;
	signal->number = (int)half_at(note, 0);
	signal->code = (int)half_at(note, AT_CODE);
	/* of one union, as the kernel's own code tells, which is positive */
	if (signal->code > 0) {
		signal->address = word_at(note, AT_ADDRESS);
	} else {
		signal->sender = (int)half_at(note, AT_ADDRESS);
		signal->user = half_at(note, AT_ADDRESS + 4);
	}
}

static void read_auxv(struct core_file *core, struct bytes note)
{
	struct core_auxv *auxv = &core->auxv;

	while (bytes_left(&note) >= 16) {
		uint64_t type = bytes_u64(&note), value = bytes_u64(&note);

		if (type == AT_PHDR)
			auxv->headers = value;
		else if (type == AT_PHNUM)
			auxv->header_count = value;
		else if (type == AT_ENTRY)
			auxv->entry = value;
		else if (type == AT_SYSINFO_EHDR)
			auxv->vdso = value;
		else if (type == AT_EXECFN)
			auxv->path = value;
	}
}

/* A count, the page size, triples of words, then the paths.  A mapping that wraps is none. */
static int read_mappings(struct core_file *core, struct bytes note)
{
	uint64_t count = bytes_u64(&note), page = bytes_u64(&note), path;
	int r = 0;

	if (note.bad || count > bytes_left(&note) / 24)
		return 0;
	path = note.pos + count * 24;
	for (uint64_t i = 0; !r && i < count; i++) {
		uint64_t start = bytes_u64(&note), end = bytes_u64(&note), at, offset;
		const uint8_t *name = note.data + path;
		const uint8_t *zero = path < note.size ? memchr(name, 0, note.size - path) : NULL;

		at = bytes_u64(&note);
		if (!zero)
			break;
		path = (uint64_t)(zero - note.data) + 1;
		if (start < end && !__builtin_mul_overflow(at, page, &offset))
			r = core_file_map(core, start, end, offset, (const char *)name);
	}
	return r;
}

static int read_note(struct core_file *core, uint32_t type, const struct bytes *note)
{
	switch (type) {
	case NT_PRSTATUS:
		return read_thread(core, note);
	case NT_FPREGSET:
		read_floats(core, note);
		return 0;
	case NT_PRPSINFO:
		read_program(core, note);
		return 0;
	case NT_SIGINFO:
		read_signal(core, note);
		return 0;
	case NT_AUXV:
		read_auxv(core, *note);
		return 0;
	case NT_FILE:
		return core->mapping_count ? 0 : read_mappings(core, *note);
	default:
		return 0;
	}
}

int core_notes_read(struct core_file *core, const uint8_t *notes, uint64_t size)
{
	struct bytes b = bytes_of(notes, size, core->arch->big_endian);
	struct elf_note note;
	int r = 0;

	while (!r && elf_each_note(&b, "CORE", &note)) {
		const struct bytes desc = bytes_of(notes + note.offset, note.size, b.big_endian);

		r = read_note(core, note.type, &desc);
	}
	return r;
}
