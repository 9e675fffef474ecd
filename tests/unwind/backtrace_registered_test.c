/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * backtrace_registered_test PLUGIN OTHER - walks of the own stack through code that
 * is registered, x86-64 code that the test writes.
 */
#include <bobbin/codectl.h>
#include <bobbin/jit.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "own_chain.h"
#include "table/table_builder.h"

#define ROOM 4096

/* A function that calls another in a frame of 48 bytes, and leaves no frame record. */
static const uint8_t code_bytes[] = {
	0x55,                   /* push %rbp */
	0x31, 0xed,             /* xor %ebp, %ebp */
	0x48, 0x83, 0xec, 0x20, /* sub $32, %rsp */
	0xff, 0xd7,             /* call *%rdi */
	0x48, 0x83, 0xc4, 0x20, /* add $32, %rsp */
	0x5d,                   /* pop %rbp */
	0xc3,                   /* ret */
};

static const char *plugin_path, *other_path;
static struct own_chain chain;

struct piece {
	uint8_t *code;    /* a page */
	uint8_t *section; /* room for one */
	struct bobbin_sframe_row rows[5];
	struct bobbin_sframe_function function;
};

static void piece_open(struct piece *p)
{
	const struct bobbin_arch *arch = bobbin_arch_amd64();

	p->code = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(p->code, MAP_FAILED);
	memcpy(p->code, code_bytes, sizeof(code_bytes));
	assert_int_equal(mprotect(p->code, ROOM, PROT_READ | PROT_EXEC), 0);
	p->section = calloc(1, ROOM);
	assert_non_null(p->section);
	p->rows[0] = (struct bobbin_sframe_row){0, bobbin_jit_rule_sp(arch, 8, 0, 0)};
	p->rows[1] = (struct bobbin_sframe_row){1, bobbin_jit_rule_sp(arch, 16, 0, -16)};
	p->rows[2] = (struct bobbin_sframe_row){7, bobbin_jit_rule_sp(arch, 48, 0, -16)};
	p->rows[3] = (struct bobbin_sframe_row){13, bobbin_jit_rule_sp(arch, 16, 0, -16)};
	p->rows[4] = (struct bobbin_sframe_row){14, bobbin_jit_rule_sp(arch, 8, 0, 0)};
	p->function = (struct bobbin_sframe_function){.start = (uint64_t)p->code,
						      .size = sizeof(code_bytes),
						      .rows = p->rows,
						      .count = 5};
}

static void piece_close(struct piece *p)
{
	munmap(p->code, ROOM);
	free(p->section);
}

/* A section for a function, where @out is; its size. */
static size_t make_section(uint8_t *out, const struct bobbin_sframe_function *function)
{
	struct bobbin_sframe_builder builder;
	struct bobbin_sframe_built fdes[1];
	uint8_t rows[256];

	assert_int_equal(
		bobbin_sframe_builder_init(bobbin_arch_amd64(), (uint64_t)out, 3, &builder), 0);
	builder.fdes = fdes;
	builder.fde_max = 1;
	builder.fres = rows;
	builder.fre_max = sizeof(rows);
	assert_int_equal(bobbin_sframe_builder_add(&builder, function), 0);
	assert_int_equal(bobbin_sframe_builder_finish(&builder, out, ROOM), 0);
	return bobbin_sframe_builder_size(&builder);
}

LINK void leaf(void)
{
	own_chain_init(&chain);
	bobbin_backtrace(NULL, &chain.trace);
	STAY();
}

LINK void caller(void *code)
{
	((void (*)(void (*)(void)))(uintptr_t)code)(leaf);
	STAY();
	own_chain_name(&chain);
}

static bool is_complete(const void *code, enum bobbin_source source)
{
	return own_chain_is(&chain, CHAIN(leaf, code, caller)) && chain.frames[1].source == source;
}

/* The walk came to the code and no further. */
static bool is_cut(enum bobbin_reason reason)
{
	return chain.trace.count == 2 && chain.trace.reason == reason;
}

/* The code itself says where it returns to, but what is not registered may be another's. */
static bool is_guessed(void)
{
	return chain.trace.reason == BOBBIN_REASON_LIKELY &&
	       chain.frames[1].source == BOBBIN_SOURCE_GUESS;
}

static struct sframe_setup setup_of(const struct piece *p, size_t section_size)
{
	return (struct sframe_setup){.sframe_start = (uint64_t)p->section,
				     .sframe_size = section_size,
				     .text_start = (uint64_t)p->code,
				     .text_size = ROOM};
}

static void register_section(const struct piece *p, size_t section_size)
{
	const struct sframe_setup setup = setup_of(p, section_size);

	assert_int_equal(bobbin_sframe_register(&setup, sizeof(setup), NULL), 0);
}

static void unregister_section(const struct piece *p)
{
	const struct sframe_setup setup = {.sframe_start = (uint64_t)p->section};

	assert_int_equal(bobbin_sframe_unregister(&setup, sizeof(setup)), 0);
}

static void code_that_nobody_registered_ends_a_walk(void **state)
{
	struct piece p;

	piece_open(&p);
	caller(p.code);
	assert_true(is_cut(BOBBIN_REASON_NO_MAPPING));
	piece_close(&p);
}

static void a_section_is_used_while_it_is_registered(void **state)
{
	struct piece p;

	piece_open(&p);
	register_section(&p, make_section(p.section, &p.function));
	caller(p.code);
	assert_true(is_complete(p.code, BOBBIN_SOURCE_SFRAME));
	unregister_section(&p);
	caller(p.code);
	assert_true(is_cut(BOBBIN_REASON_NO_MAPPING));
	piece_close(&p);
}

static void a_section_that_is_filled_later_is_used_then(void **state)
{
	struct piece p;

	piece_open(&p);
	register_section(&p, ROOM);
	caller(p.code);
	assert_true(is_guessed());
	make_section(p.section, &p.function);
	caller(p.code);
	assert_true(is_complete(p.code, BOBBIN_SOURCE_SFRAME));
	unregister_section(&p);
	piece_close(&p);
}

static void a_malformed_section_is_dropped_for_good(void **state)
{
	struct bobbin_error error = {0};
	struct piece p;
	size_t size;

	piece_open(&p);
	size = make_section(p.section, &p.function);
	assert_int_equal(bobbin_code_dropped((uintptr_t)p.code, &error), -ENOENT);
	register_section(&p, size);
	assert_int_equal(bobbin_code_dropped((uintptr_t)p.code, &error), 0);
	assert_int_equal(error.reason, BOBBIN_REASON_NONE);
	/* rows that claim sizes which do not exist */
	memset(p.section + size - 12, 0xff, 12);
	caller(p.code);
	assert_true(is_guessed());
	assert_int_equal(bobbin_code_dropped((uintptr_t)p.code, &error), 1);
	assert_int_not_equal(error.reason, BOBBIN_REASON_NONE);
	assert_in_range(error.offset, 1, size - 1);
	/* whatever is in it now */
	make_section(p.section, &p.function);
	caller(p.code);
	assert_true(is_guessed());
	unregister_section(&p);
	piece_close(&p);
}

/* As if the page were at 0x7000 in its file. */
#define FILE_ADDR 0x7000

/* The same rows in a compiled table, in a memory file. */
static struct code_elf_info compiled_info(const struct piece *p)
{
	struct table_builder builder;
	int fd = memfd_create("table", MFD_CLOEXEC);
	uint64_t size;
	uint8_t *data;

	assert_int_equal(table_builder_init(bobbin_arch_amd64(), NULL, 0, &builder), 0);
	assert_int_equal(table_builder_begin(&builder, FILE_ADDR), 0);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(table_builder_rule(&builder, FILE_ADDR + p->rows[i].start,
						    &p->rows[i].rule),
				 0);
	assert_int_equal(table_builder_end(&builder, FILE_ADDR + sizeof(code_bytes)), 0);
	assert_int_equal(table_builder_make(&builder, &data, &size), 0);
	assert_int_equal(write(fd, data, size), size);
	table_builder_fini(&builder);
	free(data);
	return (struct code_elf_info){
		.text_start = (uint64_t)p->code,
		.text_end = (uint64_t)p->code + ROOM,
		.table_flags = CODE_TABLE_FILE | CODE_TABLE_COMPILED,
		.table_fd = fd,
		.table_size = size,
		.table_addr = (uint64_t)p->code - FILE_ADDR,
	};
}

static void a_compiled_table_is_used_while_it_is_registered(void **state)
{
	struct code_elf_info info;
	struct piece p;

	piece_open(&p);
	info = compiled_info(&p);
	assert_int_equal(bobbin_codectl(CODE_REGISTER_ELF, &info, sizeof(info), 0, NULL), 0);
	close(info.table_fd);
	caller(p.code);
	assert_true(is_complete(p.code, BOBBIN_SOURCE_COMPILED));
	assert_int_equal(bobbin_codectl(CODE_UNREGISTER, &info, sizeof(info), 0, NULL), 0);
	caller(p.code);
	assert_true(is_cut(BOBBIN_REASON_NO_MAPPING));
	piece_close(&p);
}

/* Its head is looked at once, all else when it is used: here an index that leads nowhere. */
static void a_malformed_compiled_table_is_dropped_for_good(void **state)
{
	struct bobbin_error error = {0};
	struct code_elf_info info;
	uint8_t bytes[128];
	struct piece p;

	piece_open(&p);
	info = compiled_info(&p);
	memset(bytes, 0xff, sizeof(bytes));
	/* the index and the blocks are last, each 64 bytes */
	assert_int_equal(pwrite(info.table_fd, bytes, 128, (off_t)info.table_size - 128), 128);
	assert_int_equal(bobbin_codectl(CODE_REGISTER_ELF, &info, sizeof(info), 0, NULL), 0);
	assert_int_equal(bobbin_code_dropped((uintptr_t)p.code, &error), 0);
	caller(p.code);
	assert_true(is_guessed());
	assert_int_equal(bobbin_code_dropped((uintptr_t)p.code, &error), 1);
	assert_int_equal(error.reason, BOBBIN_REASON_TABLE_ROW);
	assert_int_equal(bobbin_codectl(CODE_UNREGISTER, &info, sizeof(info), 0, NULL), 0);
	close(info.table_fd);
	piece_close(&p);
}

static void a_jit_table_is_read_while_it_grows(void **state)
{
	struct bobbin_jit_table *table;
	struct code_jit_info info;
	struct piece p;

	piece_open(&p);
	assert_int_equal(bobbin_jit_table_open(bobbin_arch_amd64(), (uint64_t)p.code, ROOM, &table),
			 0);
	bobbin_jit_table_info(table, &info);
	assert_int_equal(bobbin_codectl(CODE_REGISTER_JIT, &info, sizeof(info), 0, NULL), 0);
	caller(p.code);
	assert_true(is_guessed());
	assert_int_equal(bobbin_jit_table_append(table, &p.function), 0);
	caller(p.code);
	assert_true(is_complete(p.code, BOBBIN_SOURCE_JIT));
	assert_int_equal(bobbin_codectl(CODE_UNREGISTER, &info, sizeof(info), 0, NULL), 0);
	caller(p.code);
	assert_true(is_cut(BOBBIN_REASON_NO_MAPPING));
	bobbin_jit_table_close(table);
	piece_close(&p);
}

/* The table's memory is tested before it is read. */
static void a_jit_table_that_is_not_there_does_no_harm(void **state)
{
	struct code_jit_unwind_table *table = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
						   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct code_jit_info info;
	struct piece p;

	piece_open(&p);
	assert_ptr_not_equal(table, MAP_FAILED);
	table->reserved_len = ROOM - sizeof(*table);
	info = (struct code_jit_info){(uint64_t)p.code, (uint64_t)p.code + ROOM, (uint64_t)table};
	assert_int_equal(bobbin_codectl(CODE_REGISTER_JIT, &info, sizeof(info), 0, NULL), 0);
	munmap(table, ROOM);
	caller(p.code);
	assert_true(is_guessed());
	assert_int_equal(bobbin_codectl(CODE_UNREGISTER, &info, sizeof(info), 0, NULL), 0);
	piece_close(&p);
}

static uint64_t page_of(const void *addr)
{
	return (uint64_t)addr & -(uint64_t)ROOM;
}

LINK void call_plugin(void (*f)(void (*)(void)))
{
	f(leaf);
	STAY();
	own_chain_name(&chain);
}

static bool plugin_is_complete(const void *inner, enum bobbin_source source)
{
	return own_chain_is(&chain, CHAIN(leaf, inner, call_plugin)) &&
	       chain.frames[1].source == source;
}

/* A section that covers a loaded library comes first, until it is unregistered. */
static void a_registration_wins_over_a_library(void **state)
{
	const struct bobbin_arch *arch = bobbin_arch_amd64();
	void *handle = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
	struct bobbin_sframe_row row = {0, bobbin_jit_rule_sp(arch, 8, 0, 0)};
	struct bobbin_sframe_function function = {.rows = &row, .count = 1};
	struct piece p;
	void (*inner)(void (*)(void));

	assert_non_null(handle);
	*(void **)&inner = dlsym(handle, "plugin_inner");
	assert_non_null(inner);
	assert_int_equal(bobbin_backtrace_prepare(), 0);
	call_plugin(inner);
	assert_true(plugin_is_complete(inner, BOBBIN_SOURCE_EH_FRAME));

	piece_open(&p);
	/* it describes no existing frame, but shows which table was used */
	row.rule = bobbin_jit_rule_sp(arch, 1 << 20, 0, 0);
	function.start = (uint64_t)inner;
	function.size = 64;
	munmap(p.code, ROOM);
	p.code = (uint8_t *)page_of((const void *)inner);
	register_section(&p, make_section(p.section, &function));
	call_plugin(inner);
	assert_int_equal(chain.frames[1].source, BOBBIN_SOURCE_SFRAME);

	unregister_section(&p);
	call_plugin(inner);
	assert_true(chain.frames[1].source == BOBBIN_SOURCE_NONE ||
		    chain.frames[1].source == BOBBIN_SOURCE_FRAME_POINTER);
	assert_int_equal(bobbin_backtrace_prepare(), 0);
	call_plugin(inner);
	assert_true(plugin_is_complete(inner, BOBBIN_SOURCE_EH_FRAME));
	free(p.section);
	dlclose(handle);
}

/* Room for as many changes as make the map release what it has removed. */
#define MANY 160

static struct code_jit_unwind_table no_tables[MANY + 1];

static void register_range(unsigned int i, uint64_t start, uint64_t end)
{
	struct code_jit_info info = {start, end, (uint64_t)&no_tables[i]};

	assert_int_equal(bobbin_codectl(CODE_REGISTER_JIT, &info, sizeof(info), 0, NULL), 0);
}

static void unregister_range(unsigned int i, uint64_t start, uint64_t end)
{
	struct code_jit_info info = {start, end, (uint64_t)&no_tables[i]};

	assert_int_equal(bobbin_codectl(CODE_UNREGISTER, &info, sizeof(info), 0, NULL), 0);
}

static void text_of(void *handle, uint64_t *start, uint64_t *end)
{
	const ElfW(Ehdr) * header;
	const ElfW(Phdr) * p;
	struct link_map *map;

	assert_int_equal(dlinfo(handle, RTLD_DI_LINKMAP, &map), 0);
	header = (const void *)map->l_addr;
	p = (const void *)(map->l_addr + header->e_phoff);
	while (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
		p++;
	*start = map->l_addr + p->p_vaddr;
	*end = *start + p->p_memsz;
}

/* All of a library is registered, then @changes more, and the next library goes. */
static void cover_a_library(unsigned int changes)
{
	uint64_t start, end, text;
	void *covered, *other;
	struct piece p;

	assert_int_equal(bobbin_backtrace_prepare(), 0);
	covered = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(covered);
	assert_int_equal(bobbin_backtrace_prepare(), 0);
	other = dlopen(other_path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(other);
	assert_int_equal(bobbin_backtrace_prepare(), 0);
	piece_open(&p);
	text = (uint64_t)p.code;
	text_of(covered, &start, &end);
	register_range(MANY, start, end);
	for (unsigned int i = 0; i < changes; i++)
		register_range(i, text + 16 * i, text + 16 * i + 8);
	assert_int_equal(dlclose(other), 0);
	assert_int_equal(bobbin_backtrace_prepare(), 0);
	for (unsigned int i = 0; i < changes; i++)
		unregister_range(i, text + 16 * i, text + 16 * i + 8);
	unregister_range(MANY, start, end);
	piece_close(&p);
	dlclose(covered);
	assert_int_equal(bobbin_backtrace_prepare(), 0);
}

static void a_library_that_is_covered_may_be_released_at_any_change(void **state)
{
	for (unsigned int changes = 0; changes < MANY; changes++)
		cover_a_library(changes);
}

static int prepare(void **state)
{
	return bobbin_backtrace_prepare();
}

LINK int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_that_nobody_registered_ends_a_walk),
		cmocka_unit_test(a_section_is_used_while_it_is_registered),
		cmocka_unit_test(a_section_that_is_filled_later_is_used_then),
		cmocka_unit_test(a_malformed_section_is_dropped_for_good),
		cmocka_unit_test(a_compiled_table_is_used_while_it_is_registered),
		cmocka_unit_test(a_malformed_compiled_table_is_dropped_for_good),
		cmocka_unit_test(a_jit_table_is_read_while_it_grows),
		cmocka_unit_test(a_jit_table_that_is_not_there_does_no_harm),
		cmocka_unit_test(a_registration_wins_over_a_library),
		cmocka_unit_test(a_library_that_is_covered_may_be_released_at_any_change),
	};

	if (argc != 3)
		return 2;
	plugin_path = argv[1];
	other_path = argv[2];
	return cmocka_run_group_tests(tests, prepare, NULL);
}
