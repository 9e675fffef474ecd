/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cfi_file.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The section's bytes, or NULL: absent, empty, compressed or without bytes in the file. */
static const uint8_t *section(Elf *elf, const char *name, uint64_t *size, uint64_t *addr)
{
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr shdr;
		const char *its;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &shdr) || !(its = elf_strptr(elf, names, shdr.sh_name)))
			continue;
		if (strcmp(its, name) || shdr.sh_type == SHT_NOBITS ||
		    shdr.sh_flags & SHF_COMPRESSED)
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data || !data->d_size)
			continue;
		*size = data->d_size;
		*addr = shdr.sh_addr;
		return data->d_buf;
	}
	return NULL;
}

static const struct bobbin_arch *arch_of(Elf *elf)
{
	const char *ident = elf_getident(elf, NULL);
	GElf_Ehdr ehdr;

	if (elf_kind(elf) != ELF_K_ELF || ident[EI_CLASS] != ELFCLASS64)
		return NULL;
	if (!gelf_getehdr(elf, &ehdr) || (ehdr.e_type != ET_EXEC && ehdr.e_type != ET_DYN))
		return NULL;
	return bobbin_arch_of_elf(ehdr.e_machine, ident[EI_DATA] == ELFDATA2MSB);
}

int cfi_file_init(struct cfi_file *file, const char *path)
{
	struct bobbin_cfi_view *eh = &file->eh, *debug = &file->debug;

	*file = (struct cfi_file){.fd = open(path, O_RDONLY | O_CLOEXEC)};
	if (file->fd < 0)
		return -1;
	elf_version(EV_CURRENT);
	file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
	file->arch = file->elf ? arch_of(file->elf) : NULL;
	if (!file->arch) {
		cfi_file_fini(file);
		return -1;
	}

	eh->arch = debug->arch = file->arch;
	eh->frame = section(file->elf, ".eh_frame", &eh->frame_size, &eh->frame_addr);
	eh->hdr = section(file->elf, ".eh_frame_hdr", &eh->hdr_size, &eh->hdr_addr);
	debug->frame = section(file->elf, ".debug_frame", &debug->frame_size, &debug->frame_addr);
	debug->debug_frame = true;
	bobbin_cfi_view_init(eh, NULL);
	bobbin_cfi_view_init(debug, NULL);
	return 0;
}

void cfi_file_fini(struct cfi_file *file)
{
	elf_end(file->elf);
	close(file->fd);
}
