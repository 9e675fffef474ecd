/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dwfl_walk.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target/backing_file.h"
#include "unwind/space.h"

#define THREAD 1 /* any number will do */
#define AMD64_REGS 17

/* A register's slot below the stack pointer. */
struct popped_slot {
	uint64_t addr, value;
};

struct dwfl_walk {
	Dwfl *dwfl;
	/* of the walk that runs */
	const struct bobbin_regs *regs;
	const struct bobbin_stack_copy *stack;
	struct dwfl_result *result;
	struct popped_slot popped[AMD64_REGS];
	unsigned int popped_count;
};

static int no_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		  char **file, Elf **elf)
{
	return -1;
}

static int no_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			const char *file, const char *debuglink, GElf_Word crc, char **debuginfo)
{
	return -1;
}

static const Dwfl_Callbacks files_callbacks = {
	.find_elf = no_elf,
	.find_debuginfo = no_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static bool read_file(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *ret)
{
	Dwfl_Module *module = dwfl_addrmodule(dwfl, addr);
	Dwarf_Addr bias;
	Elf_Scn *section;
	Elf_Data *data;

	if (!module)
		return false;
	section = dwfl_module_address_section(module, &addr, &bias);
	data = section ? elf_rawdata(section, NULL) : NULL;
	if (!data || !data->d_buf || addr > data->d_size || data->d_size - addr < sizeof(*ret))
		return false;
	memcpy(ret, (const char *)data->d_buf + addr, sizeof(*ret));
	return true;
}

static bool read_popped(const struct dwfl_walk *w, Dwarf_Addr addr, Dwarf_Word *ret)
{
	for (unsigned int i = 0; i < w->popped_count; i++) {
		if (w->popped[i].addr == addr) {
			*ret = w->popped[i].value;
			return true;
		}
	}
	return false;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *ret, void *arg)
{
	struct dwfl_walk *w = arg;

	if (!bobbin_stack_copy_read((void *)w->stack, addr, ret, sizeof(*ret)) ||
	    read_file(dwfl, addr, ret) || read_popped(w, addr, ret))
		return true;
	if (!w->result->lacks_memory) {
		w->result->lacks_memory = true;
		w->result->missed = addr;
		w->result->readable = w->result->count;
	}
	return false;
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	pid_t thread = *thread_arg ? 0 : THREAD;

	*thread_arg = arg;
	return thread;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	*thread_arg = arg;
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct dwfl_walk *w = arg;
	Dwarf_Word words[AMD64_REGS];

	memcpy(words, w->regs->gpr, sizeof(words) - sizeof(words[0]));
	words[AMD64_REGS - 1] = w->regs->pc;
	return dwfl_thread_state_registers(thread, 0, AMD64_REGS, words);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

/* libdwfl owns the descriptor of a file that it accepts. */
static void report_vdso(Dwfl *dwfl, const struct mapping *m)
{
	size_t size;
	const void *image = own_vdso(&size);
	int fd = memfd_create("vdso", MFD_CLOEXEC);

	if (fd < 0)
		return;
	if (!image || write(fd, image, size) != (ssize_t)size ||
	    !dwfl_report_elf(dwfl, "[vdso]", "[vdso]", fd, m->start, false))
		close(fd);
}

/*
 * Where the file's address 0 is in the process.  V8 maps part of a program with fixed
 * addresses once more elsewhere: libdwfl cannot represent that.
 */
static bool load_bias(int fd, const struct mapping *m, GElf_Addr *ret)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	bool found = false;
	size_t count;
	GElf_Ehdr header;
	GElf_Phdr p;

	if (!elf || !gelf_getehdr(elf, &header) || elf_getphdrnum(elf, &count))
		count = 0;
	for (size_t i = 0; i < count && !found; i++) {
		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X))
			continue;
		found = m->offset + (m->end - m->start) > p.p_offset &&
			m->offset < p.p_offset + p.p_filesz;
		*ret = m->start - m->offset + p.p_offset - p.p_vaddr;
	}
	if (found && header.e_type == ET_EXEC)
		found = *ret == 0;
	elf_end(elf);
	return found;
}

/* The segments of a file are mapped one by one, libdwfl takes it as a whole. */
static bool is_reported(const struct bobbin_space *space, size_t i)
{
	const struct mapping *m = &space->maps.list[i], *other;

	for (other = space->maps.list; other < m; other++)
		if (other->file == m->file && other->start - other->offset == m->start - m->offset)
			return true;
	return false;
}

static void report_file(Dwfl *dwfl, const struct mapping *m)
{
	GElf_Addr bias = 0;
	int fd = backing_file_open(NULL, m->file, NULL);

	if (fd < 0)
		return;
	if (!load_bias(fd, m, &bias) || !dwfl_report_elf(dwfl, m->path, m->path, fd, bias, false))
		close(fd);
}

static void report_files(Dwfl *dwfl, const struct bobbin_space *space)
{
	for (size_t i = 0; i < space->maps.count; i++) {
		const struct mapping *m = &space->maps.list[i];

		if (m->file->kind == FILE_VDSO)
			report_vdso(dwfl, m);
		else if (m->file->kind == FILE_REGULAR && !is_reported(space, i))
			report_file(dwfl, m);
	}
}

int dwfl_walk_open(const struct bobbin_space *space, struct dwfl_walk **ret)
{
	struct dwfl_walk *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	elf_version(EV_CURRENT);
	w->dwfl = dwfl_begin(&files_callbacks);
	if (!w->dwfl) {
		free(w);
		return -ENOMEM;
	}
	dwfl_report_begin(w->dwfl);
	report_files(w->dwfl, space);
	dwfl_report_end(w->dwfl, NULL, NULL);
	if (!dwfl_attach_state(w->dwfl, NULL, THREAD, &thread_callbacks, w)) {
		dwfl_walk_close(w);
		return -EIO;
	}
	*ret = w;
	return 0;
}

void dwfl_walk_close(struct dwfl_walk *walk)
{
	if (!walk)
		return;
	dwfl_end(walk->dwfl);
	free(walk);
}

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct dwfl_result *result = arg;
	struct bobbin_frame *out = &result->frames[result->count];
	Dwarf_Addr pc;

	if (result->count == BOBBIN_MAX_DEPTH || !dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	/* the next call may unwind: what it reads belongs to this frame */
	result->count++;
	out->pc = pc;
	return dwfl_frame_pc(frame, &pc, &out->exact) ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static bool leaf_cfa(Dwarf_Frame *frame, const struct bobbin_regs *regs, uint64_t *ret)
{
	Dwarf_Op *op;
	size_t count;

	if (dwarf_frame_cfa(frame, &op, &count) || count != 1 || op->atom != DW_OP_bregx ||
	    op->number >= BOBBIN_REG_COUNT)
		return false;
	*ret = regs->gpr[op->number] + op->number2;
	return true;
}

static void add_popped(struct dwfl_walk *w, Dwarf_Frame *frame, uint64_t cfa, int reg)
{
	Dwarf_Op memory[3], *op;
	size_t count;
	uint64_t slot;

	if (dwarf_frame_register(frame, reg, memory, &op, &count) || count != 2 ||
	    op[0].atom != DW_OP_call_frame_cfa || op[1].atom != DW_OP_plus_uconst)
		return;
	slot = cfa + op[1].number;
	if (slot < w->regs->sp)
		w->popped[w->popped_count++] = (struct popped_slot){slot, w->regs->gpr[reg]};
}

static void find_popped(struct dwfl_walk *w)
{
	Dwfl_Module *module = dwfl_addrmodule(w->dwfl, w->regs->pc);
	Dwarf_Frame *frame;
	Dwarf_Addr bias;
	Dwarf_CFI *cfi;
	uint64_t cfa;

	cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
	if (!cfi || dwarf_cfi_addrframe(cfi, w->regs->pc - bias, &frame))
		return;
	if (leaf_cfa(frame, w->regs, &cfa))
		for (int reg = 0; reg < AMD64_REGS - 1; reg++)
			add_popped(w, frame, cfa, reg);
	free(frame);
}

void dwfl_walk_run(struct dwfl_walk *walk, const struct bobbin_regs *regs,
		   const struct bobbin_stack_copy *stack, bool popped, struct dwfl_result *ret)
{
	ret->count = ret->readable = 0;
	ret->lacks_memory = false;
	walk->regs = regs;
	walk->stack = stack;
	walk->result = ret;
	walk->popped_count = 0;
	if (popped)
		find_popped(walk);
	ret->error = dwfl_getthread_frames(walk->dwfl, THREAD, take_frame, ret) ? dwfl_errno() : 0;
	if (!ret->lacks_memory)
		ret->readable = ret->count;
}
