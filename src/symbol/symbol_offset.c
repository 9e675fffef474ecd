/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/symbol_offset.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "symbol/elf_file.h"

static bool is_function(const GElf_Sym *sym)
{
	int type = GELF_ST_TYPE(sym->st_info);

	return sym->st_shndx != SHN_UNDEF && sym->st_value &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC);
}

/* "malloc" is also "malloc@@GLIBC_2.2.5" */
static bool has_name(const char *full, const char *name)
{
	size_t length = strlen(name);

	return full && !strncmp(full, name, length) && (!full[length] || full[length] == '@');
}

static bool find_in_table(Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr, const char *name,
			  GElf_Sym *ret)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym sym;

	for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
		if (!is_function(&sym) ||
		    !has_name(elf_strptr(elf, shdr->sh_link, sym.st_name), name))
			continue;
		*ret = sym;
		return true;
	}
	return false;
}

static bool find_symbol(Elf *elf, const char *name, GElf_Sym *ret)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &shdr) &&
		    (shdr.sh_type == SHT_SYMTAB || shdr.sh_type == SHT_DYNSYM) &&
		    find_in_table(elf, scn, &shdr, name, ret))
			return true;
	return false;
}

static int offset_of(Elf *elf, uint64_t address, uint64_t *ret)
{
	size_t count;
	GElf_Phdr phdr;

	if (elf_getphdrnum(elf, &count))
		return -ENOEXEC;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_LOAD ||
		    address - phdr.p_vaddr >= phdr.p_filesz)
			continue;
		*ret = address - phdr.p_vaddr + phdr.p_offset;
		return 0;
	}
	return -ENODATA;
}

static bool find_in_debug_file(const struct elf_file *file, const char *debug_path,
			       const char *name, GElf_Sym *ret)
{
	const struct search_paths paths = {.debug_path = debug_path};
	struct elf_file debug = ELF_FILE_CLOSED;
	struct build_id id = {0};
	bool found;

	elf_file_build_id(file->elf, &id);
	if (elf_file_find_debug(&paths, file, &id, &debug))
		return false;
	found = find_symbol(debug.elf, name, ret);
	elf_file_close(&debug);
	return found;
}

int symbol_offset_find(const char *path, const char *debug_path, const char *name, uint64_t *ret)
{
	struct elf_file file = {.fd = open(path, O_RDONLY | O_CLOEXEC), .path = (char *)path};
	GElf_Sym sym;
	int r = -ENODATA;

	if (file.fd < 0)
		return -errno;
	elf_version(EV_CURRENT);
	file.elf = elf_begin(file.fd, ELF_C_READ, NULL);
	if (!file.elf || elf_kind(file.elf) != ELF_K_ELF)
		r = -ENOEXEC;
	else if (find_symbol(file.elf, name, &sym) ||
		 find_in_debug_file(&file, debug_path, name, &sym))
		r = GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC
			    ? -ENOTSUP
			    : offset_of(file.elf, sym.st_value, ret);
	elf_end(file.elf);
	close(file.fd);
	return r;
}
