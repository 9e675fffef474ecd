/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/gdb_jit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elf_walk.h"
#include "base/vector.h"
#include "target/backing_file.h"
#include "target/mapping_list.h"

#define VERSION 1
/* Larger symbol tables are not looked through. */
#define TABLE_MAX ((uint64_t)512 << 20)
/* .dynsym and .symtab */
#define TABLES_MAX 2

/* As GDB defines them, of 64-bit processes. */
struct descriptor {
	uint32_t version, action;
	uint64_t relevant, first;
};

struct node {
	uint64_t next, previous, image, image_size;
};

static const char symbol_name[] = "__jit_debug_descriptor";

static Elf_Data *table_data(Elf_Scn *section, const GElf_Shdr *header)
{
	return header->sh_size <= TABLE_MAX && !(header->sh_flags & SHF_COMPRESSED)
		       ? elf_getdata(section, NULL)
		       : NULL;
}

/* The names of a symbol table; the last one ends. */
struct strings {
	const char *data;
	size_t size;
};

/* Not elf_strptr(), which looks through a hostile table for each name. */
static bool find_strings(Elf *elf, size_t number, struct strings *ret)
{
	Elf_Scn *section = elf_getscn(elf, number);
	Elf_Data *data;
	GElf_Shdr header;

	if (!section || !gelf_getshdr(section, &header))
		return false;
	data = table_data(section, &header);
	if (!data || !data->d_buf || !data->d_size || ((char *)data->d_buf)[data->d_size - 1])
		return false;
	*ret = (struct strings){data->d_buf, data->d_size};
	return true;
}

static const char *string_at(const struct strings *strings, uint64_t at)
{
	return at < strings->size ? strings->data + at : "";
}

static bool find_in_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, uint64_t *ret)
{
	struct strings strings;
	Elf_Data *data;
	GElf_Sym symbol;

	/* most files are done with when their strings are */
	if (!find_strings(elf, header->sh_link, &strings) ||
	    !memmem(strings.data, strings.size, symbol_name, sizeof(symbol_name)))
		return false;
	data = table_data(section, header);
	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++)
		if (symbol.st_shndx != SHN_UNDEF &&
		    !strcmp(string_at(&strings, symbol.st_name), symbol_name)) {
			*ret = symbol.st_value;
			return true;
		}
	return false;
}

static bool find_symbol(Elf *elf, uint64_t *ret)
{
	unsigned int tables = 0;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while (tables < TABLES_MAX && (section = elf_next_section(elf, section, &header))) {
		if (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_SYMTAB)
			continue;
		if (find_in_table(elf, section, &header, ret))
			return true;
		tables++;
	}
	return false;
}

/* What an address of the file is more in the process. */
static bool find_bias(Elf *elf, const struct mapping *m, uint64_t *ret)
{
	GElf_Phdr segment;

	for (size_t i = 0; elf_next_segment(elf, &i, &segment);) {
		uint64_t align = segment.p_align ? segment.p_align : 1;

		/* a mapping begins at a page, a segment may begin after its start */
		if (segment.p_type != PT_LOAD || m->offset + align <= segment.p_offset ||
		    m->offset >= segment.p_offset + segment.p_filesz)
			continue;
		*ret = m->start - (segment.p_vaddr + (m->offset - segment.p_offset));
		return true;
	}
	return false;
}

static void look_into(const struct mapping *m, Elf *elf)
{
	struct mapped_file *f = m->file;
	bool is_elf = elf && elf_kind(elf) == ELF_K_ELF && gelf_getclass(elf) == ELFCLASS64;
	uint64_t bias;

	if (!f->jit.looked)
		f->jit.has = is_elf && find_symbol(elf, &f->jit.symbol);
	f->jit.looked = true;
	f->jit.offset = m->offset;
	f->jit.placed = f->jit.has && is_elf && find_bias(elf, m, &bias);
	if (f->jit.placed)
		f->jit.distance = f->jit.symbol + bias - m->start;
}

/* Symbol tables are read once for each file, whatever number of processes maps it. */
static void open_and_look(struct process_reader *reader, const struct mapping *m)
{
	struct mapped_file *f = m->file;
	Elf *elf;
	int fd;

	if (!f->jit.looked && f->jit.tried_pid && f->jit.tried_pid == f->pid)
		return;
	f->jit.tried_pid = f->pid;
	fd = backing_file_open(reader, f, NULL);
	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_counts_are_sane(fd) ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	look_into(m, elf);
	elf_end(elf);
	close(fd);
}

static bool find_descriptor(struct process_reader *reader, const struct mapping *m, uint64_t *ret)
{
	const struct mapped_file *f = m->file;

	if (f->kind != FILE_REGULAR)
		return false;
	if (!f->jit.looked || (f->jit.has && f->jit.offset != m->offset))
		open_and_look(reader, m);
	if (!f->jit.looked || !f->jit.placed || f->jit.offset != m->offset)
		return false;
	*ret = m->start + f->jit.distance;
	return true;
}

size_t gdb_jit_find(const struct mapping_list *maps, uint64_t ret[GDB_JIT_DESCRIPTORS])
{
	const struct mapped_file *files[GDB_JIT_DESCRIPTORS];
	size_t count = 0;

	for (size_t i = 0; i < maps->count && count < GDB_JIT_DESCRIPTORS; i++) {
		const struct mapping *m = &maps->list[i];
		size_t k = 0;

		while (k < count && files[k] != m->file)
			k++;
		if (k == count && find_descriptor(maps->reader, m, &ret[count]))
			files[count++] = m->file;
	}
	return count;
}

int gdb_jit_state(const struct remote_process *process, uint64_t descriptor,
		  struct gdb_jit_state *ret)
{
	struct descriptor head;
	int r = process_read(process, descriptor, &head, sizeof(head));

	if (!r)
		*ret = (struct gdb_jit_state){head.action, head.relevant, head.first};
	return r;
}

struct entry_list {
	struct gdb_jit_entry *entries;
	size_t count, room;
};

static int add_entry(struct entry_list *list, const struct node *node)
{
	return vector_push(list->entries, list->count, list->room,
			   (struct gdb_jit_entry){node->image, node->image_size});
}

int gdb_jit_list(const struct remote_process *process, uint64_t descriptor,
		 struct gdb_jit_entry **ret)
{
	struct entry_list list = {0};
	struct descriptor head;
	uint64_t left = GDB_JIT_LIST_MAX;
	struct node node;
	int nodes = 0, r = process_read(process, descriptor, &head, sizeof(head));

	if (r)
		return r;
	if (head.version != VERSION)
		head.first = 0;
	/* the list may change meanwhile: what is left of it is read next time */
	for (uint64_t at = head.first; at && nodes < GDB_JIT_ENTRIES; at = node.next, nodes++) {
		if (process_read(process, at, &node, sizeof(node)))
			break;
		if (!node.image_size || node.image_size > GDB_JIT_IMAGE_MAX ||
		    node.image_size > left)
			continue;
		left -= node.image_size;
		if (add_entry(&list, &node)) {
			free(list.entries);
			return -ENOMEM;
		}
	}
	*ret = list.entries;
	return (int)list.count;
}

/* Symbols of relocatable images count from their section, but for some producers'. */
static bool place_function(Elf *elf, bool relocatable, const GElf_Sym *symbol, uint64_t *ret)
{
	Elf_Scn *section = elf_getscn(elf, symbol->st_shndx);
	uint64_t start = symbol->st_value;
	GElf_Shdr header;

	if (!section || !gelf_getshdr(section, &header))
		return false;
	if (relocatable && !header.sh_addr)
		return false;
	if (relocatable && start - header.sh_addr >= header.sh_size)
		start += header.sh_addr;
	if (!start || symbol->st_size > UINT64_MAX - start)
		return false;
	*ret = start;
	return true;
}

static bool is_function(const GElf_Sym *symbol)
{
	return GELF_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_size &&
	       symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE;
}

static int read_symbols(Elf *elf, bool relocatable, Elf_Scn *section, const GElf_Shdr *header,
			gdb_jit_sink sink, void *ctx)
{
	Elf_Data *data = table_data(section, header);
	struct gdb_jit_function function;
	struct strings strings;
	GElf_Sym symbol;
	int r = 0;

	if (!find_strings(elf, header->sh_link, &strings))
		return 0;
	for (int i = 0; !r && data && gelf_getsym(data, i, &symbol); i++) {
		if (!is_function(&symbol) ||
		    !place_function(elf, relocatable, &symbol, &function.start))
			continue;
		function.size = symbol.st_size;
		function.name = string_at(&strings, symbol.st_name);
		if (*function.name)
			r = sink(ctx, &function);
	}
	return r;
}

static int read_image(void *image, size_t size, gdb_jit_sink sink, void *ctx)
{
	Elf_Scn *section = NULL;
	GElf_Ehdr head;
	GElf_Shdr header;
	int r = 0;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_memory(image, size);
	if (!elf || elf_kind(elf) != ELF_K_ELF || gelf_getclass(elf) != ELFCLASS64 ||
	    !gelf_getehdr(elf, &head)) {
		elf_end(elf);
		return -EBADMSG;
	}
	while ((section = elf_next_section(elf, section, &header)))
		if (header.sh_type == SHT_SYMTAB) {
			/* there is one at most */
			r = read_symbols(elf, head.e_type == ET_REL, section, &header, sink, ctx);
			break;
		}
	elf_end(elf);
	return r;
}

int gdb_jit_functions(const struct remote_process *process, const struct gdb_jit_entry *entry,
		      gdb_jit_sink sink, void *ctx)
{
	void *image;
	int r;

	if (!entry->size || entry->size > GDB_JIT_IMAGE_MAX)
		return -EBADMSG;
	image = process_read_copy(process, entry->address, entry->size, &r);
	if (!image)
		return r;
	r = read_image(image, entry->size, sink, ctx);
	free(image);
	return r;
}
