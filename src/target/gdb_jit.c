/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/gdb_jit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elf_walk.h"
#include "base/vector.h"
#include "target/backing_file.h"
#include "target/elf_symbols.h"
#include "target/mapping_list.h"

#define VERSION 1

/* As GDB defines them, of 64-bit processes. */
struct descriptor {
	uint32_t version, action;
	uint64_t relevant, first;
};

struct node {
	uint64_t next, previous, image, image_size;
};

static const char symbol_name[] = "__jit_debug_descriptor";

static bool find_symbol(Elf *elf, uint64_t *ret)
{
	struct elf_symbol symbol = {.name = symbol_name};

	if (!elf_symbols_find(elf, &symbol, 1))
		return false;
	*ret = symbol.value;
	return true;
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
	f->jit.placed = f->jit.has && is_elf && elf_mapping_bias(elf, m, &bias);
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
	Elf_Data *data = elf_table_data(section, header);
	struct gdb_jit_function function;
	struct elf_strings strings;
	GElf_Sym symbol;
	int r = 0;

	if (!elf_strings_find(elf, header->sh_link, &strings))
		return 0;
	for (int i = 0; !r && data && gelf_getsym(data, i, &symbol); i++) {
		if (!is_function(&symbol) ||
		    !place_function(elf, relocatable, &symbol, &function.start))
			continue;
		function.size = symbol.st_size;
		function.name = elf_string_at(&strings, symbol.st_name);
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
