/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "own_tables.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PT_GNU_SFRAME 0x6474e554
#define PCREL_SDATA4 0x1b /* DW_EH_PE_pcrel | DW_EH_PE_sdata4 */

static struct {
	struct own_object objects[16];
	unsigned int count;
	const struct bobbin_arch *arch;
} tables;

static const ElfW(Phdr) * segment_of(const struct dl_phdr_info *info, uint64_t addr)
{
	for (unsigned int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    addr - info->dlpi_addr - info->dlpi_phdr[i].p_vaddr <
			    info->dlpi_phdr[i].p_memsz)
			return &info->dlpi_phdr[i];
	return NULL;
}

/* The header points to .eh_frame, which ends with its terminator. */
static void take_cfi(struct own_object *o, const struct dl_phdr_info *info,
		     const ElfW(Phdr) * segment)
{
	struct bobbin_error error = {0};
	const ElfW(Phdr) * frames;
	int32_t to_frame;

	o->cfi.arch = tables.arch;
	o->cfi.hdr_addr = info->dlpi_addr + segment->p_vaddr;
	o->cfi.hdr = (const uint8_t *)o->cfi.hdr_addr;
	o->cfi.hdr_size = segment->p_memsz;
	if (o->cfi.hdr[1] != PCREL_SDATA4)
		return;
	memcpy(&to_frame, o->cfi.hdr + 4, sizeof(to_frame));
	o->cfi.frame_addr = o->cfi.hdr_addr + 4 + (uint64_t)(int64_t)to_frame;
	o->cfi.frame = (const uint8_t *)o->cfi.frame_addr;
	frames = segment_of(info, o->cfi.frame_addr);
	if (!frames)
		return;
	o->cfi.frame_size = info->dlpi_addr + frames->p_vaddr + frames->p_memsz - o->cfi.frame_addr;
	o->has_cfi = true;
	if (bobbin_cfi_view_init(&o->cfi, &error)) {
		printf("# %s: %s\n", info->dlpi_name, bobbin_reason_str(error.reason));
		exit(1);
	}
}

static void take_sframe(struct own_object *o, const struct dl_phdr_info *info,
			const ElfW(Phdr) * segment)
{
	uint64_t addr = info->dlpi_addr + segment->p_vaddr;
	struct bobbin_error error = {0};

	o->has_sframe = !bobbin_sframe_view((const void *)addr, segment->p_memsz, addr, &error,
					    &o->sframe);
	if (!o->has_sframe) {
		printf("# %s: %s\n", info->dlpi_name, bobbin_reason_str(error.reason));
		exit(1);
	}
}

static int take_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct own_object o = {.start = UINT64_MAX, .is_program = tables.count == 0};

	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && start < o.start)
			o.start = start;
		if (p->p_type == PT_LOAD && start + p->p_memsz > o.end)
			o.end = start + p->p_memsz;
		if (p->p_type == PT_GNU_EH_FRAME)
			take_cfi(&o, info, p);
		if (p->p_type == PT_GNU_SFRAME)
			take_sframe(&o, info, p);
	}
	if (tables.count < 16)
		tables.objects[tables.count++] = o;
	return 0;
}

void own_tables_init(const struct bobbin_arch *arch)
{
	tables.arch = arch;
	dl_iterate_phdr(take_object, NULL);
}

const struct own_object *own_object_of(uint64_t addr)
{
	for (unsigned int i = 0; i < tables.count; i++)
		if (addr >= tables.objects[i].start && addr < tables.objects[i].end)
			return &tables.objects[i];
	return NULL;
}
