// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/program_elf.h"

#include <bobbin/types.h>
#include <string.h>
#include <unistd.h>

#include "base/vector.h"
#include "core/bytes.h"
#include "elf/elf_headers.h"

static const char *const names[] = {
	"_Exit",
	"_Unwind_Resume",
	"_ZSt10unexpectedv",
	"_ZSt9terminatev",
	"__assert",
	"__assert_fail",
	"__assert_perror_fail",
	"__chk_fail",
	"__cxa_bad_cast",
	"__cxa_bad_typeid",
	"__cxa_call_unexpected",
	"__cxa_rethrow",
	"__cxa_throw",
	"__cxa_throw_bad_array_new_length",
	"__fortify_fail",
	"__libc_fatal",
	"__libc_start_main",
	"__longjmp_chk",
	"__stack_chk_fail",
	"_exit",
	"_longjmp",
	"abort",
	"err",
	"errx",
	"exit",
	"g_assertion_message",
	"g_assertion_message_expr",
	"longjmp",
	"pthread_exit",
	"quick_exit",
	"siglongjmp",
	"thrd_exit",
	"verr",
	"verrx",
	"xalloc_die",
	"xexit",
};

/* std::__throw_length_error(char const*) and its like. */
static bool is_std_throw(const char *name)
{
	const char *throw = strncmp(name, "_ZSt", 4) ? NULL : strstr(name, "__throw_");

	return throw &&throw -name <= 6;
}

static bool name_ends_control(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return is_std_throw(name);
}

#define WORD 8

/* Words of arrays of functions that are looked at: sections may overlap. */
#define MOST_ARRAY_WORDS (1u << 20)

/* Segments may overlap in the file, too, and need not follow each other in memory. */
#define MOST_OVERLAP 2
#define MOST_HOLES ((uint64_t)64 << 20)

struct reading {
	const struct elf_headers *elf;
	int fd;
	struct program *program;
	size_t array_words;
};

/* Nothing is allocated for bytes that the file has not. */
static int read_bytes(const struct reading *r, uint64_t offset, uint64_t size, uint8_t **ret)
{
	const uint64_t file_size = r->elf->file_size;
	uint64_t done = 0;
	uint8_t *bytes;

	if (offset > file_size || size > file_size - offset)
		return -EBADMSG;
	bytes = malloc(size ? size : 1);
	if (!bytes)
		return -ENOMEM;
	while (done < size) {
		ssize_t n = pread(r->fd, bytes + done, size - done, (off_t)(offset + done));

		if (n <= 0) {
			free(bytes);
			return n ? -errno : -EBADMSG;
		}
		done += (uint64_t)n;
	}
	*ret = bytes;
	return 0;
}

static int add_span(struct reading *r, const Elf64_Phdr *segment)
{
	struct program *p = r->program;
	struct program_span span = {.addr = segment->p_vaddr,
				    .size = segment->p_filesz,
				    .exec = segment->p_flags & PF_X};
	int error = read_bytes(r, segment->p_offset, segment->p_filesz, &span.bytes);

	if (error)
		return error;
	error = vector_push(p->spans, p->span_count, p->span_capacity, span);
	if (error)
		free(span.bytes);
	return error;
}

static int add_spans(struct reading *r)
{
	uint64_t bytes = 0;
	int error = 0;

	for (size_t i = 0; i < r->elf->segment_count && !error; i++) {
		const Elf64_Phdr *segment = &r->elf->segments[i];

		if (segment->p_type == PT_GNU_RELRO && segment->p_memsz <= PROGRAM_MOST_BYTES) {
			r->program->fixed = segment->p_vaddr;
			r->program->fixed_end = segment->p_vaddr + segment->p_memsz;
		}
		if (segment->p_type != PT_LOAD || !segment->p_filesz)
			continue;
		bytes += segment->p_filesz;
		error = bytes > PROGRAM_MOST_BYTES || bytes / MOST_OVERLAP > r->elf->file_size
				? -EFBIG
				: add_span(r, segment);
	}
	return error;
}

static int add_code(struct program *p, uint64_t start, uint64_t size)
{
	return start + size < start ? 0 : coverage_add(&p->code, start, start + size);
}

/* Sets of addresses have a bit for each from the first to the last. */
static int check_extent(const struct reading *r)
{
	const struct coverage *code = &r->program->code;
	uint64_t extent = 0;

	if (code->count)
		extent = code->ranges[code->count - 1].end - code->ranges[0].start;
	return extent > MOST_HOLES && extent - MOST_HOLES > r->elf->file_size ? -EFBIG : 0;
}

/* By its sections; data may be in the same segment. */
static int add_codes(struct reading *r)
{
	bool by_segments;
	int error = 0;

	for (size_t i = 0; i < r->elf->section_count && !error; i++) {
		const Elf64_Shdr *s = &r->elf->sections[i];

		if (s->sh_flags & SHF_EXECINSTR && s->sh_type == SHT_PROGBITS)
			error = add_code(r->program, s->sh_addr, s->sh_size);
	}
	by_segments = !r->program->code.count;
	for (size_t i = 0; i < r->program->span_count && !error; i++) {
		const struct program_span *span = &r->program->spans[i];

		if (by_segments && span->exec)
			error = add_code(r->program, span->addr, span->size);
	}
	coverage_settle(&r->program->code);
	return error ? error : check_extent(r);
}

/* A symbol table, and the names of its symbols. */
struct symbols {
	Elf64_Sym *entries;
	size_t count;
	char *names;
	uint64_t names_size;
};

static void symbols_fini(struct symbols *s)
{
	free(s->entries);
	free(s->names);
}

static const char *name_of(const struct symbols *s, size_t i)
{
	if (i >= s->count || s->entries[i].st_name >= s->names_size)
		return "";
	return s->names + s->entries[i].st_name;
}

static int read_symbols(struct reading *r, size_t section, struct symbols *ret)
{
	const Elf64_Shdr *s = &r->elf->sections[section], *names;
	void *entries;
	uint8_t *bytes = NULL;
	int error;

	*ret = (struct symbols){0};
	if (s->sh_link >= r->elf->section_count)
		return -EBADMSG;
	names = &r->elf->sections[s->sh_link];
	if (names->sh_type != SHT_STRTAB || !names->sh_size || names->sh_size > PROGRAM_MOST_BYTES)
		return -EBADMSG;
	error = elf_headers_table(r->elf, r->fd, section, ELF_T_SYM, sizeof(Elf64_Sym), NULL,
				  &entries, &ret->count);
	if (error)
		return error;
	ret->entries = entries;
	error = read_bytes(r, names->sh_offset, names->sh_size, &bytes);
	if (error)
		return error;
	ret->names = (char *)bytes;
	ret->names_size = names->sh_size;
	bytes[ret->names_size - 1] = 0;
	return 0;
}

static int add_symbol(struct program *p, const Elf64_Sym *symbol, const char *name)
{
	const unsigned int type = ELF64_ST_TYPE(symbol->st_info);
	unsigned int flags = START_LABEL;

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE ||
	    (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
	    !program_code(p, symbol->st_value))
		return 0;
	/* a compiler's local symbol may be that of a part of a function, NAME.cold */
	if (type != STT_NOTYPE &&
	    (ELF64_ST_BIND(symbol->st_info) != STB_LOCAL || !strstr(name, ".cold")))
		flags = START_SYMBOL;
	if (name_ends_control(name))
		flags |= START_NO_RETURN;
	return program_add_start(p, symbol->st_value, flags);
}

static int add_symbols(struct reading *r, size_t section)
{
	struct symbols symbols;
	int error = read_symbols(r, section, &symbols);

	for (size_t i = 0; i < symbols.count && !error; i++)
		error = add_symbol(r->program, &symbols.entries[i], name_of(&symbols, i));
	symbols_fini(&symbols);
	return error;
}

static int add_pointer(struct program *p, uint64_t at, uint64_t address)
{
	int error = vector_push(p->pointers, p->pointer_count, p->pointer_capacity,
				(struct program_pointer){at, address});

	return error || !program_code(p, address) ? error
						  : program_add_start(p, address, START_POINTER);
}

/* Relocations of AArch64 by the names that those of x86-64 with the same meaning have. */
static uint32_t kind_of(const struct machine *machine, uint32_t type)
{
	if (machine == &machine_amd64)
		return type;
	switch (type) {
	case R_AARCH64_RELATIVE:
		return R_X86_64_RELATIVE;
	case R_AARCH64_IRELATIVE:
		return R_X86_64_IRELATIVE;
	case R_AARCH64_ABS64:
		return R_X86_64_64;
	case R_AARCH64_GLOB_DAT:
		return R_X86_64_GLOB_DAT;
	case R_AARCH64_JUMP_SLOT:
		return R_X86_64_JUMP_SLOT;
	default:
		return R_X86_64_NONE;
	}
}

static int add_relocation(struct program *p, const Elf64_Rela *rela, const struct symbols *symbols)
{
	const uint32_t type = kind_of(p->machine, (uint32_t)ELF64_R_TYPE(rela->r_info));
	const size_t symbol = ELF64_R_SYM(rela->r_info);
	uint64_t lazy;

	/* until it is bound, the slot of a stub leads to the rest of the stub */
	if (type == R_X86_64_JUMP_SLOT && program_word(p, rela->r_offset, &lazy) &&
	    program_code(p, lazy) && program_add_start(p, lazy, START_CALLED))
		return -ENOMEM;
	switch (type) {
	case R_X86_64_RELATIVE:
	case R_X86_64_IRELATIVE:
		return add_pointer(p, rela->r_offset, (uint64_t)rela->r_addend);
	case R_X86_64_64:
	case R_X86_64_GLOB_DAT:
	case R_X86_64_JUMP_SLOT:
		if (type != R_X86_64_64 &&
		    vector_push(p->imports, p->import_count, p->import_capacity, rela->r_offset))
			return -ENOMEM;
		if (name_ends_control(name_of(symbols, symbol)))
			return vector_push(p->no_return, p->no_return_count, p->no_return_capacity,
					   rela->r_offset);
		if (symbol < symbols->count && symbols->entries[symbol].st_shndx != SHN_UNDEF)
			return add_pointer(p, rela->r_offset,
					   symbols->entries[symbol].st_value +
						   (uint64_t)rela->r_addend);
		return 0;
	default:
		return 0;
	}
}

static int add_relocations(struct reading *r, size_t section)
{
	const Elf64_Shdr *s = &r->elf->sections[section];
	struct symbols symbols = {0};
	void *entries = NULL;
	size_t count = 0;
	int error = s->sh_link && s->sh_link < r->elf->section_count &&
				    r->elf->sections[s->sh_link].sh_type == SHT_DYNSYM
			    ? read_symbols(r, s->sh_link, &symbols)
			    : 0;

	if (!error)
		error = elf_headers_table(r->elf, r->fd, section, ELF_T_RELA, sizeof(Elf64_Rela),
					  NULL, &entries, &count);
	for (size_t i = 0; i < count && !error; i++)
		error = add_relocation(r->program, &((const Elf64_Rela *)entries)[i], &symbols);
	free(entries);
	symbols_fini(&symbols);
	return error;
}

/* Words of data that look like addresses of code, where nothing is relocated. */
static int add_words(struct program *p, const struct program_span *span)
{
	uint64_t at = (WORD - span->addr % WORD) % WORD;
	int error = 0;

	for (; at + WORD <= span->size && !error; at += WORD) {
		uint64_t word = load_u64(span->bytes + at, false);

		if (program_code(p, word))
			error = program_add_start(p, word, START_POINTER);
	}
	return error;
}

static int add_fixed_pointers(struct reading *r)
{
	struct program *p = r->program;
	int error = 0;

	if (r->elf->file.e_type != ET_EXEC)
		return 0;
	for (size_t i = 0; i < p->span_count && !error; i++)
		if (!p->spans[i].exec)
			error = add_words(p, &p->spans[i]);
	return error;
}

/* Functions whose addresses are words of an array. */
static int add_array(struct reading *r, uint64_t at, uint64_t size)
{
	uint64_t word;
	int error = 0;

	for (; size >= WORD && !error; at += WORD, size -= WORD) {
		if (r->array_words++ >= MOST_ARRAY_WORDS || !program_word(r->program, at, &word))
			break;
		if (program_code(r->program, word))
			error = program_add_start(r->program, word, START_CALLED);
	}
	return error;
}

/* An array that the dynamic section has the address and the size of, both where it says so. */
struct dynamic_array {
	Elf64_Sxword at_tag, size_tag;
	uint64_t at, size;
};

/* What the loader calls: DT_INIT, DT_FINI, and the arrays. */
static int add_dynamic(struct reading *r, uint64_t at, uint64_t size)
{
	struct program *p = r->program;
	struct dynamic_array arrays[] = {
		{.at_tag = DT_PREINIT_ARRAY, .size_tag = DT_PREINIT_ARRAYSZ},
		{.at_tag = DT_INIT_ARRAY, .size_tag = DT_INIT_ARRAYSZ},
		{.at_tag = DT_FINI_ARRAY, .size_tag = DT_FINI_ARRAYSZ},
	};
	const size_t count = sizeof(arrays) / sizeof(*arrays);
	uint64_t tag, word;
	int error = 0;

	for (; size >= 2 * WORD && !error; at += 2 * WORD, size -= 2 * WORD) {
		if (!program_word(p, at, &tag) || !program_word(p, at + WORD, &word) ||
		    tag == DT_NULL)
			break;
		if ((tag == DT_INIT || tag == DT_FINI) && program_code(p, word))
			error = program_add_start(p, word, START_CALLED);
		for (size_t i = 0; i < count; i++) {
			if ((Elf64_Sxword)tag == arrays[i].at_tag)
				arrays[i].at = word;
			else if ((Elf64_Sxword)tag == arrays[i].size_tag)
				arrays[i].size = word;
		}
	}
	for (size_t i = 0; i < count && !error; i++)
		error = add_array(r, arrays[i].at, arrays[i].size);
	return error;
}

/* Static programs have no dynamic section, and their arrays are sections. */
static int add_called_by_loader(struct reading *r)
{
	int error = 0;

	for (size_t i = 0; i < r->elf->segment_count && !error; i++)
		if (r->elf->segments[i].p_type == PT_DYNAMIC)
			error = add_dynamic(r, r->elf->segments[i].p_vaddr,
					    r->elf->segments[i].p_filesz);
	for (size_t i = 0; i < r->elf->section_count && !error; i++) {
		const Elf64_Shdr *s = &r->elf->sections[i];

		if (s->sh_type == SHT_INIT_ARRAY || s->sh_type == SHT_FINI_ARRAY ||
		    s->sh_type == SHT_PREINIT_ARRAY)
			error = add_array(r, s->sh_addr, s->sh_size);
	}
	return error;
}

static int add_section(struct reading *r, size_t section)
{
	const Elf64_Shdr *s = &r->elf->sections[section];
	int error = 0;

	if (s->sh_type == SHT_SYMTAB || s->sh_type == SHT_DYNSYM)
		error = add_symbols(r, section);
	else if (s->sh_type == SHT_RELA && s->sh_flags & SHF_ALLOC)
		error = add_relocations(r, section);
	/* what cannot be read adds nothing */
	return error == -ENOMEM ? error : 0;
}

static int read_all(struct reading *r)
{
	int error = add_spans(r);

	if (!error)
		error = add_codes(r);
	for (size_t i = 0; i < r->elf->section_count && !error; i++)
		error = add_section(r, i);
	if (!error)
		error = add_fixed_pointers(r);
	if (!error) {
		program_sort_pointers(r->program);
		error = add_called_by_loader(r);
	}
	r->program->absolute = r->elf->file.e_type == ET_EXEC;
	if (!error && r->elf->file.e_entry)
		error = program_add_start(r->program, r->elf->file.e_entry, START_ENTRY);
	return error;
}

int program_of_elf(int fd, struct bobbin_error *err, struct program *ret)
{
	struct elf_headers elf;
	struct program program = {0};
	struct reading reading = {.elf = &elf, .fd = fd, .program = &program};
	int error = elf_headers_init(fd, false, err, &elf);

	if (error)
		return error;
	program.machine = machine_of(elf.file.e_machine, elf.file.e_ident[EI_DATA]);
	error = program.machine ? read_all(&reading) : -ENOTSUP;
	if (error && err)
		*err = (struct bobbin_error){0};
	elf_headers_fini(&elf);
	if (error)
		program_fini(&program);
	else
		*ret = program;
	return error;
}
