/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks through code that a process describes to debuggers.  The process is this one; it makes
 * images as LLVM does, and stacks are made up.
 */
#include <bobbin/code_abi.h>
#include <bobbin/sframe_builder.h>
#include <bobbin/unwind.h>
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../target/debugger_interface.h"
#include "base/memory_origin.h"
#include "base/native_arch.h"
#include "codemap/page_writer.h"
#include "made_walks.h"
#include "unwind/debugger_images.h"

#define CODE_SIZE 0x10000
#define TABLE_SIZE 256

/* Pointer encodings of .eh_frame. */
#define ABSOLUTE 0x00
#define RELATIVE 0x1c

enum {
	SECTION_NULL,
	SECTION_TEXT,
	SECTION_FRAMES,
	SECTION_SFRAME,
	SECTION_NAMES,
	SECTIONS
};

/* A compiler's output: an image, and its loaded tables. */
struct compiled {
	struct jit_entry entry;
	uint8_t frames[TABLE_SIZE], sframe[TABLE_SIZE];
	struct {
		Elf64_Ehdr head;
		Elf64_Shdr sections[SECTIONS];
		uint8_t frames[TABLE_SIZE];
		char names[40];
	} image;
};

struct fixture {
	struct made_walks walks;
	uint64_t code; /* as the outermost frame's, memory without a file */
	struct compiled compiled[2];
};

static uint64_t map_code(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? 0 : (uintptr_t)p;
}

static int open_fixture(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->code = map_code(CODE_SIZE);
	f->walks.outer = map_code(0x1000);
	if (!f->code || !f->walks.outer || bobbin_unwinder_open(NULL, &f->walks.unwinder) ||
	    bobbin_space_open(f->walks.unwinder, native_arch(), &f->walks.space) ||
	    bobbin_space_load(f->walks.space, getpid()))
		return -1;
	*state = f;
	return 0;
}

static int close_fixture(void **state)
{
	struct fixture *f = *state;

	bobbin_space_close(f->walks.space);
	bobbin_unwinder_close(f->walks.unwinder);
	munmap((void *)f->code, CODE_SIZE);
	munmap((void *)f->walks.outer, 0x1000);
	__jit_debug_descriptor = (struct jit_descriptor){.version = 1};
	free(f);
	return 0;
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t size)
{
	memcpy(at, bytes, size);
	return at + size;
}

static void put_size(uint8_t *at, const uint8_t *end)
{
	uint32_t size = (uint32_t)(end - at - 4);

	memcpy(at, &size, 4);
}

/*
 * Call-frame information for [@start, @end), as of @addr: a frame of @frame bytes.
 * Ends in zeros, which is the terminator.
 */
static void make_frames(uint64_t addr, uint64_t start, uint64_t end, uint8_t frame,
			uint8_t encoding, uint8_t ret[TABLE_SIZE])
{
	const uint8_t ra = native_arch()->ra;
	const uint8_t cie[] = {
		[8] = 1,           'z',   'R',       0, 1, 0x78, ra, 1, encoding, 0x0c,
		native_arch()->sp, frame, 0x80 | ra, 1};
	uint8_t *fde, *at;
	uint32_t back;

	memset(ret, 0, TABLE_SIZE);
	fde = put(ret, cie, sizeof(cie));
	put_size(ret, fde);
	back = (uint32_t)(fde + 4 - ret);
	at = put(fde + 4, &back, 4);
	if (encoding == RELATIVE)
		start -= addr + (uint64_t)(at - ret);
	end -= start + (encoding == RELATIVE ? addr + (uint64_t)(at - ret) : 0);
	at = put(at, &start, 8);
	at = put(at, &end, 8);
	at++;
	put_size(fde, at);
}

static void make_sframe(uint64_t start, uint32_t size, int32_t frame, uint8_t ret[TABLE_SIZE])
{
	static struct bobbin_sframe_built fdes[1];
	static uint8_t fres[64];
	struct bobbin_sframe_row row = {.rule = {.index = BOBBIN_NO_INDEX}};
	struct bobbin_sframe_function function = {
		.start = start, .size = size, .rows = &row, .count = 1};
	struct bobbin_sframe_builder builder;

	row.rule.cfa = (struct bobbin_place){
		.how = BOBBIN_HOW_AT_REG, .reg = native_arch()->sp, .off = frame};
	row.rule.ra = (struct bobbin_place){.how = BOBBIN_HOW_IN_CFA_MEM, .off = -8};
	row.rule.fp = (struct bobbin_place){.how = BOBBIN_HOW_SAME};
	assert_int_equal(bobbin_sframe_builder_init(native_arch(), (uintptr_t)ret, 3, &builder), 0);
	builder.fdes = fdes;
	builder.fde_max = 1;
	builder.fres = fres;
	builder.fre_max = sizeof(fres);
	assert_int_equal(bobbin_sframe_builder_add(&builder, &function), 0);
	assert_true(bobbin_sframe_builder_size(&builder) <= TABLE_SIZE);
	assert_int_equal(bobbin_sframe_builder_finish(&builder, ret, TABLE_SIZE), 0);
}

static Elf64_Shdr table_section(uint32_t name, const void *loaded, uint64_t offset)
{
	return (Elf64_Shdr){.sh_name = name,
			    .sh_type = offset ? SHT_PROGBITS : SHT_NOBITS,
			    .sh_flags = SHF_ALLOC,
			    .sh_addr = (uintptr_t)loaded,
			    .sh_offset = offset,
			    .sh_size = TABLE_SIZE};
}

/* Code with relocatable tables: relocations are applied where they are loaded only. */
static void compile(struct compiled *c, uint64_t start, uint64_t size, uint8_t frame)
{
	*c = (struct compiled){.entry = {.image = &c->image, .size = sizeof(c->image)}};
	c->image.head = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			    native_arch()->big_endian ? ELFDATA2MSB : ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_REL,
		.e_machine = native_arch()->elf_machine,
		.e_shoff = offsetof(typeof(c->image), sections),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS,
		.e_shstrndx = SECTION_NAMES,
	};
	memcpy(c->image.names, "\0.text\0.eh_frame\0.sframe", 25);
	c->image.sections[SECTION_TEXT] = (Elf64_Shdr){.sh_name = 1,
						       .sh_type = SHT_NOBITS,
						       .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
						       .sh_addr = start,
						       .sh_size = size};
	c->image.sections[SECTION_FRAMES] = table_section(7, c->frames,
							  offsetof(typeof(c->image), frames));
	c->image.sections[SECTION_NAMES] =
		(Elf64_Shdr){.sh_type = SHT_STRTAB,
			     .sh_offset = offsetof(typeof(c->image), names),
			     .sh_size = sizeof(c->image.names)};
	make_frames((uintptr_t)c->frames, start, start + size, frame, RELATIVE, c->frames);
	memcpy(c->image.frames, c->frames, TABLE_SIZE);
	/* the relocation's addend is elsewhere */
	memset(c->image.frames + 30, 0, 8);
}

static void tell(struct compiled *c)
{
	c->entry.next = __jit_debug_descriptor.first;
	c->entry.previous = NULL;
	if (c->entry.next)
		c->entry.next->previous = &c->entry;
	__jit_debug_descriptor.first = __jit_debug_descriptor.relevant = &c->entry;
	__jit_debug_descriptor.action = 1;
}

static void untell(struct compiled *c)
{
	if (c->entry.next)
		c->entry.next->previous = c->entry.previous;
	if (c->entry.previous)
		c->entry.previous->next = c->entry.next;
	else
		__jit_debug_descriptor.first = c->entry.next;
	__jit_debug_descriptor.relevant = &c->entry;
	__jit_debug_descriptor.action = 2;
}

static bool leads_out(struct fixture *f, uint64_t pc, unsigned int frame, enum bobbin_source source)
{
	walk(&f->walks, pc, frame - 8);
	return f->walks.trace.count == 2 && f->walks.frames[0].source == source &&
	       f->walks.frames[1].pc == f->walks.outer + 0x10;
}

static bool is_stuck(struct fixture *f, uint64_t pc)
{
	walk(&f->walks, pc, FRAME - 8);
	return f->walks.trace.count == 1 && f->walks.frames[0].source == BOBBIN_SOURCE_NONE;
}

static void code_that_debuggers_are_told_of_is_unwound(void **state)
{
	struct fixture *f = *state;
	struct compiled *c = &f->compiled[0];

	compile(c, f->code + 0x100, 0x100, FRAME);
	assert_int_equal(update(&f->walks), 1); /* a descriptor */
	assert_int_equal(update(&f->walks), 0);
	assert_true(is_stuck(f, f->code + 0x110));
	tell(c);
	assert_int_equal(update(&f->walks), 1);
	assert_int_equal(update(&f->walks), 0);
	assert_true(leads_out(f, f->code + 0x100, FRAME, BOBBIN_SOURCE_EH_FRAME));
	assert_true(leads_out(f, f->code + 0x1ff, FRAME, BOBBIN_SOURCE_EH_FRAME));
	assert_true(is_stuck(f, f->code + 0xff));
	assert_true(is_stuck(f, f->code + 0x200));
	untell(c);
	assert_true(leads_out(f, f->code + 0x110, FRAME, BOBBIN_SOURCE_EH_FRAME));
	assert_int_equal(update(&f->walks), 1);
	assert_true(is_stuck(f, f->code + 0x110));
}

static void tables_that_are_not_loaded_are_taken_from_the_image(void **state)
{
	struct fixture *f = *state;
	struct compiled *c = &f->compiled[0];
	Elf64_Shdr *s = &c->image.sections[SECTION_FRAMES];

	/* as V8 writes them; and as linkers do, for an address that is not mapped */
	for (unsigned int i = 0; i < 3; i++) {
		compile(c, f->code, 0x100, FRAME);
		s->sh_addr = i == 2 ? 0x10000 : 0;
		make_frames(i == 2 ? 0x10000 : (uintptr_t)c->image.frames, f->code, f->code + 0x100,
			    FRAME, i ? RELATIVE : ABSOLUTE, c->image.frames);
		tell(c);
		assert_int_equal(update(&f->walks), 1);
		assert_true(leads_out(f, f->code + 0x10, FRAME, BOBBIN_SOURCE_EH_FRAME));
		untell(c);
		assert_int_equal(update(&f->walks), 1);
		assert_true(is_stuck(f, f->code + 0x10));
	}
}

static unsigned int sframe_version(const struct fixture *f)
{
	return indexed_sections_version(
		table_set_find(tables_at(&f->walks, f->code), TABLE_SFRAME));
}

static void sframe_of_an_image_is_asked_before_its_eh_frame(void **state)
{
	struct fixture *f = *state;
	struct compiled *c = &f->compiled[0];
	struct bobbin_error error;

	compile(c, f->code, 0x200, FRAME);
	make_sframe(f->code, 0x100, 2 * FRAME, c->sframe);
	c->image.sections[SECTION_SFRAME] = table_section(17, c->sframe, 0);
	tell(c);
	assert_int_equal(update(&f->walks), 1);
	assert_true(leads_out(f, f->code + 0x10, 2 * FRAME, BOBBIN_SOURCE_SFRAME));
	assert_true(leads_out(f, f->code + 0x110, FRAME, BOBBIN_SOURCE_EH_FRAME));
	assert_int_equal(sframe_version(f), 3);

	/* a malformed one is none */
	c->sframe[0] ^= 0xff;
	untell(c);
	tell(c);
	c->image.head.e_version++;
	assert_int_equal(update(&f->walks), 1);
	assert_true(leads_out(f, f->code + 0x10, FRAME, BOBBIN_SOURCE_EH_FRAME));
	assert_true(table_set_dropped(tables_at(&f->walks, f->code), &error));
	assert_int_equal(error.reason, BOBBIN_REASON_SFRAME_MAGIC);
}

static void relocations_may_be_applied_after_debuggers_are_told(void **state)
{
	struct fixture *f = *state;
	struct compiled *c = &f->compiled[0];
	uint8_t relocated[TABLE_SIZE];

	compile(c, f->code, 0x100, FRAME);
	memcpy(relocated, c->frames, TABLE_SIZE);
	memcpy(c->frames, c->image.frames, TABLE_SIZE);
	tell(c);
	assert_int_equal(update(&f->walks), 1);
	assert_int_equal(update(&f->walks), 0);
	assert_true(is_stuck(f, f->code + 0x10));
	memcpy(c->frames, relocated, TABLE_SIZE);
	assert_int_equal(update(&f->walks), 1);
	assert_true(leads_out(f, f->code + 0x10, FRAME, BOBBIN_SOURCE_EH_FRAME));
}

static void memory_that_is_used_again_is_read_again(void **state)
{
	struct fixture *f = *state;
	struct compiled *c = &f->compiled[0], *other = &f->compiled[1];

	compile(c, f->code, 0x100, FRAME);
	compile(other, f->code + 0x1000, 0x100, FRAME);
	tell(c);
	assert_int_equal(update(&f->walks), 1);
	assert_true(leads_out(f, f->code + 0x10, FRAME, BOBBIN_SOURCE_EH_FRAME));
	/* the table only */
	untell(c);
	compile(c, f->code, 0x100, 2 * FRAME - 8);
	tell(c);
	tell(other);
	assert_int_equal(update(&f->walks), 1);
	assert_true(leads_out(f, f->code + 0x10, 2 * FRAME - 8, BOBBIN_SOURCE_EH_FRAME));
	assert_true(leads_out(f, f->code + 0x1010, FRAME, BOBBIN_SOURCE_EH_FRAME));
	/* other code */
	untell(other);
	untell(c);
	compile(c, f->code + 0x100, 0x100, FRAME);
	tell(c);
	assert_int_equal(update(&f->walks), 1);
	assert_true(is_stuck(f, f->code + 0x10));
	assert_true(leads_out(f, f->code + 0x110, FRAME, BOBBIN_SOURCE_EH_FRAME));
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* The list looks as before: same entry, same descriptor. */
static void list_that_looks_as_before_is_read_again_in_time(void **state)
{
	struct fixture *f = *state;
	struct compiled *c = &f->compiled[0];
	uint64_t end = now_ms() + 20000;

	compile(c, f->code, 0x100, FRAME);
	tell(c);
	assert_int_equal(update(&f->walks), 1);
	while (update(&f->walks) == 0 && now_ms() < end - 19000)
		usleep(20000);
	untell(c);
	compile(c, f->code, 0x100, 2 * FRAME - 8);
	tell(c);
	while (update(&f->walks) == 0 && now_ms() < end)
		usleep(20000);
	assert_true(leads_out(f, f->code + 0x10, 2 * FRAME - 8, BOBBIN_SOURCE_EH_FRAME));
}

static void files_that_are_mapped_count_more_than_images(void **state)
{
	const uint64_t here = (uint64_t)(uintptr_t)make_frames & ~UINT64_C(0xf);
	struct fixture *f = *state;
	struct compiled *c = &f->compiled[0];
	const struct remote_code *code;

	/* all of memory up to the code, with all libraries and this program or a part */
	compile(c, f->code - (UINT64_C(1) << 31), (UINT64_C(1) << 31) + 0x100, FRAME);
	compile(&f->compiled[1], here, 0x100, FRAME);
	tell(c);
	tell(&f->compiled[1]);
	assert_int_equal(update(&f->walks), 1);
	assert_true(leads_out(f, f->code + 0x10, FRAME, BOBBIN_SOURCE_EH_FRAME));
	assert_null(remote_code_find(f->walks.space->remote, here));
	code = f->walks.space->remote;
	for (size_t i = 0; i < code->count; i++)
		for (size_t k = 0; k < f->walks.space->maps.count; k++)
			assert_true(memory_has_no_file(f->walks.space->maps.list[k].path) ||
				    f->walks.space->maps.list[k].end <= code->ranges[i].start ||
				    f->walks.space->maps.list[k].start >= code->ranges[i].end);
}

/* While the list stays as it is. */
static void images_are_cut_anew_when_mappings_change(void **state)
{
	struct fixture *f = *state;
	struct bobbin_mapping mapping = {f->code, f->code + 0x1000, .path = "/nowhere/lib.so"};

	compile(&f->compiled[0], f->code, 0x100, FRAME);
	tell(&f->compiled[0]);
	assert_int_equal(update(&f->walks), 1);
	assert_true(leads_out(f, f->code + 0x10, FRAME, BOBBIN_SOURCE_EH_FRAME));
	assert_int_equal(bobbin_space_map(f->walks.space, &mapping), 0);
	assert_int_equal(update(&f->walks), 1);
	assert_int_equal(update(&f->walks), 0);
	assert_true(is_stuck(f, f->code + 0x10));
	mapping.path = "//anon";
	assert_int_equal(bobbin_space_map(f->walks.space, &mapping), 0);
	assert_int_equal(update(&f->walks), 1);
	assert_int_equal(update(&f->walks), 0);
	assert_true(leads_out(f, f->code + 0x10, FRAME, BOBBIN_SOURCE_EH_FRAME));
}

static struct bobbin_code_entry named(uint64_t id, uint64_t start, uint64_t end)
{
	return (struct bobbin_code_entry){
		.id = id, .kind = BOBBIN_CODE_NAMED, .text_start = start, .text_end = end};
}

/* Pieces of an image that are not registered are left to it. */
static void registered_code_counts_more_than_images(void **state)
{
	struct fixture *f = *state;
	struct bobbin_code_entry entries[] = {named(1, f->code, f->code + 0x100),
					      named(2, f->code + 0x180, f->code + 0x200),
					      named(3, f->code + 0x200, f->code + 0x280),
					      named(4, f->code + 0x400, f->code + 0x600)};
	const struct remote_code *code;
	struct page_writer *page;
	uint64_t after = 0;
	uint32_t number;

	assert_int_equal(page_writer_open(&page), 0);
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++)
		assert_int_equal(page_writer_add(page, &entries[i], &number), 0);
	compile(&f->compiled[0], f->code + 0x80, 0x400, FRAME);
	compile(&f->compiled[1], f->code + 0x480, 0x200, FRAME);
	tell(&f->compiled[0]);
	tell(&f->compiled[1]);
	assert_int_equal(update(&f->walks), 1);
	code = f->walks.space->remote;
	assert_int_equal(code->count, 7);
	for (size_t i = 0; i < code->count; i++) {
		const struct remote_range *r = &code->ranges[i];

		assert_true(r->start >= after && r->start < r->end);
		after = r->end;
		assert_int_equal(r->debugger_image, r->id > 4);
		assert_int_equal(!r->table, r->id <= 4);
	}
	assert_true(is_stuck(f, f->code + 0x90));
	assert_true(leads_out(f, f->code + 0x110, FRAME, BOBBIN_SOURCE_EH_FRAME));
	assert_true(is_stuck(f, f->code + 0x210));
	assert_true(leads_out(f, f->code + 0x290, FRAME, BOBBIN_SOURCE_EH_FRAME));
	assert_true(is_stuck(f, f->code + 0x500));
	assert_true(leads_out(f, f->code + 0x610, FRAME, BOBBIN_SOURCE_EH_FRAME));
	page_writer_close(page);
	assert_int_equal(update(&f->walks), 1);
	assert_true(leads_out(f, f->code + 0x90, FRAME, BOBBIN_SOURCE_EH_FRAME));
}

static void newest_image_is_right_where_images_contradict_each_other(void **state)
{
	struct fixture *f = *state;

	compile(&f->compiled[0], f->code, 0x200, FRAME);
	compile(&f->compiled[1], f->code + 0x100, 0x200, 2 * FRAME - 8);
	tell(&f->compiled[0]);
	tell(&f->compiled[1]);
	assert_int_equal(update(&f->walks), 1);
	assert_true(leads_out(f, f->code + 0x110, 2 * FRAME - 8, BOBBIN_SOURCE_EH_FRAME));
	assert_true(is_stuck(f, f->code + 0x10));
	untell(&f->compiled[0]);
	tell(&f->compiled[0]);
	assert_int_equal(update(&f->walks), 1);
	assert_true(leads_out(f, f->code + 0x110, FRAME, BOBBIN_SOURCE_EH_FRAME));
	assert_true(is_stuck(f, f->code + 0x210));
}

static void hostile_lists_end(void **state)
{
	struct fixture *f = *state;
	struct compiled *c = &f->compiled[0];

	compile(c, f->code, 0x100, FRAME);
	tell(c);
	c->entry.next = &c->entry;
	assert_int_equal(update(&f->walks), 1);
	assert_int_equal(f->walks.space->remote->count, 1);
	assert_true(leads_out(f, f->code + 0x10, FRAME, BOBBIN_SOURCE_EH_FRAME));
	c->entry.next = (struct jit_entry *)8;
	c->image.sections[SECTION_TEXT].sh_addr = UINT64_MAX - 0x80;
	__jit_debug_descriptor.action = 3;
	assert_int_equal(update(&f->walks), 1);
	assert_int_equal(f->walks.space->remote->count, 0);
	c->entry.image = (const void *)(UINT64_MAX - 10);
	__jit_debug_descriptor.action = 4;
	assert_int_equal(update(&f->walks), 0);
	c->entry.image = &c->image;
	c->image.sections[SECTION_TEXT].sh_addr = 1;
	c->image.sections[SECTION_TEXT].sh_size = JIT_IMAGE_TEXT_MAX;
	c->image.sections[SECTION_FRAMES].sh_size = GDB_JIT_IMAGE_MAX;
	__jit_debug_descriptor.action = 5;
	assert_int_equal(update(&f->walks), 0);
	assert_true(is_stuck(f, f->code + 0x10));
}

/* Code whose table is followed by many zeros, which are read with it. */
static uint8_t *compile_large(struct compiled *c, uint64_t start, uint64_t size)
{
	uint8_t *table = mmap(NULL, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	compile(c, start, 0x100, FRAME);
	make_frames((uintptr_t)table, start, start + 0x100, FRAME, RELATIVE, table);
	c->image.sections[SECTION_FRAMES].sh_addr = (uintptr_t)table;
	c->image.sections[SECTION_FRAMES].sh_size = size;
	return table;
}

/* Images are processed in the order of their addresses. */
static void images_that_come_later_do_not_exceed_the_limit_of_bytes(void **state)
{
	const uint64_t size = DEBUGGER_IMAGES_MAX_BYTES / 2 + 1;
	struct fixture *f = *state;
	struct compiled *low = &f->compiled[0], *high = &f->compiled[1];

	compile_large(low, f->code, size);
	compile_large(high, f->code + 0x1000, size);
	tell(high);
	assert_int_equal(update(&f->walks), 1);
	assert_true(leads_out(f, f->code + 0x1010, FRAME, BOBBIN_SOURCE_EH_FRAME));
	tell(low);
	assert_true(update(&f->walks) >= 0);
	assert_true(is_stuck(f, f->code + 0x10));
	assert_true(leads_out(f, f->code + 0x1010, FRAME, BOBBIN_SOURCE_EH_FRAME));
	untell(high);
	assert_int_equal(update(&f->walks), 1);
	assert_true(leads_out(f, f->code + 0x10, FRAME, BOBBIN_SOURCE_EH_FRAME));
}

static void tables_of_no_use_are_not_read_without_end(void **state)
{
	static struct jit_entry entries[4000];
	struct fixture *f = *state;
	struct compiled *c = f->compiled;
	clock_t start = clock();

	memset(compile_large(c, f->code, DEBUGGER_IMAGES_MAX_BYTES - 0x1000), 0, TABLE_SIZE);
	compile(c + 1, f->code, 0x100, FRAME);
	tell(c + 1);
	for (size_t i = 0; i < 4000; i++) {
		entries[i] = (struct jit_entry){__jit_debug_descriptor.first, NULL, &c->image,
						sizeof(c->image) + i};
		__jit_debug_descriptor.first = &entries[i];
	}
	assert_int_equal(update(&f->walks), 1);
	assert_true(clock() - start < 10 * CLOCKS_PER_SEC);
	assert_true(leads_out(f, f->code + 0x10, FRAME, BOBBIN_SOURCE_EH_FRAME));
}

/* Any changed bit of an image and its table. */
static void damage_does_no_harm(void **state)
{
	struct fixture *f = *state;
	struct compiled *c = &f->compiled[0];
	size_t bits = 8 * (sizeof(*c) - offsetof(struct compiled, frames)), served = 0;

	compile(c, f->code, 0x100, FRAME);
	make_sframe(f->code, 0x80, FRAME, c->sframe);
	c->image.sections[SECTION_SFRAME] = table_section(17, c->sframe, 0);
	tell(c);
	for (size_t i = 0; i < bits; i++) {
		uint8_t *byte = c->frames + i / 8;

		/* bytes after the tables do not change them */
		*byte ^= (uint8_t)(1 << i % 8);
		__jit_debug_descriptor.action = (uint32_t)i;
		assert_true(update(&f->walks) >= 0);
		walk(&f->walks, f->code + (i % 2 ? 0x10 : 0x90), FRAME - 8);
		served += f->walks.trace.count == 2;
		*byte ^= (uint8_t)(1 << i % 8);
	}
	assert_true(served > bits / 2 && served < bits);
	__jit_debug_descriptor.action = UINT32_MAX;
	assert_true(update(&f->walks) >= 0);
	assert_true(leads_out(f, f->code + 0x10, FRAME, BOBBIN_SOURCE_SFRAME));
	assert_true(leads_out(f, f->code + 0x90, FRAME, BOBBIN_SOURCE_EH_FRAME));
}

static void processes_without_memory_that_has_no_file_are_not_searched(void **state)
{
	struct fixture *f = *state;
	struct debugger_images images = {.process = {NULL, getpid()}};

	for (size_t i = 0; i < f->walks.space->maps.count;) {
		const struct mapping *m = &f->walks.space->maps.list[i];

		if (memory_has_no_file(m->path))
			assert_int_equal(bobbin_space_unmap(f->walks.space, m->start, m->end), 0);
		else
			i++;
	}
	assert_int_equal(debugger_images_update(&images, &f->walks.space->maps,
						f->walks.space->arch, f->walks.space->generation),
			 -ENOENT);
	assert_int_equal(images.descriptor_count, 0);
	for (size_t i = 0; i < f->walks.space->maps.count; i++)
		assert_false(f->walks.space->maps.list[i].file->jit.looked);
	debugger_images_fini(&images);
}

/* A library that the space still has as mapped, with a descriptor. */
static void descriptor_that_has_gone_does_not_hide_others(void **state)
{
	struct fixture *f = *state;
	const struct mapping *m = space_find(f->walks.space, (uintptr_t)make_frames);
	void *gone = mmap(NULL, 64 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct bobbin_mapping library = {(uintptr_t)gone, (uintptr_t)gone + (m->end - m->start),
					 m->offset, .path = "/proc/self/exe"};

	assert_int_equal(bobbin_space_map(f->walks.space, &library), 0);
	compile(&f->compiled[0], f->code, 0x100, FRAME);
	tell(&f->compiled[0]);
	assert_int_equal(update(&f->walks), 1);
	assert_true(leads_out(f, f->code + 0x10, FRAME, BOBBIN_SOURCE_EH_FRAME));
}

/* A child that registers and unregisters as fast as it can. */
static _Noreturn void change_for_ever(struct fixture *f)
{
	for (unsigned int i = 0;; i++) {
		struct compiled *c = &f->compiled[i / 2 % 2];

		if (i % 2) {
			tell(c);
			continue;
		}
		if (i > 3)
			untell(c);
		compile(c, f->code + 0x1000 * (i % 5), 0x100, (uint8_t)(8 * (2 + i % 5)));
	}
}

static pid_t spawn_changing(struct fixture *f)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		change_for_ever(f);
	}
	assert_true(pid > 0);
	return pid;
}

static void list_that_changes_while_it_is_read_does_no_harm(void **state)
{
	struct fixture *f = *state;
	pid_t pid = spawn_changing(f);
	uint64_t end = now_ms() + 700;
	unsigned int served = 0;

	while (now_ms() < end) {
		int r = bobbin_space_update_code(f->walks.unwinder, f->walks.space, pid);

		assert_true(r == 0 || r == 1);
		for (unsigned int i = 0; i < 5; i++) {
			walk(&f->walks, f->code + 0x1000 * i + 0x10, 8 * (2 + i) - 8);
			served += f->walks.trace.count == 2;
		}
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(served);
	assert_int_equal(bobbin_space_update_code(f->walks.unwinder, f->walks.space, pid), -ESRCH);
}

/* A space that is copied as its process forks: the child's list is the child's. */
static void child_has_a_list_of_its_own(void **state)
{
	struct fixture *f = *state;
	struct bobbin_space *parent = f->walks.space, *child;
	pid_t pid;

	compile(&f->compiled[0], f->code, 0x100, FRAME);
	compile(&f->compiled[1], f->code + 0x1000, 0x100, FRAME);
	tell(&f->compiled[0]);
	assert_int_equal(update(&f->walks), 1);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		tell(&f->compiled[1]);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	assert_int_equal(bobbin_space_fork(parent, &child), 0);
	f->walks.space = child;
	assert_true(leads_out(f, f->code + 0x10, FRAME, BOBBIN_SOURCE_EH_FRAME));
	for (unsigned int i = 0; i < 1000 && f->walks.space->remote->count < 2; i++) {
		assert_true(bobbin_space_update_code(f->walks.unwinder, child, pid) >= 0);
		usleep(1000);
	}
	assert_true(leads_out(f, f->code + 0x10, FRAME, BOBBIN_SOURCE_EH_FRAME));
	assert_true(leads_out(f, f->code + 0x1010, FRAME, BOBBIN_SOURCE_EH_FRAME));
	f->walks.space = parent;
	assert_int_equal(update(&f->walks), 0);
	assert_true(is_stuck(f, f->code + 0x1010));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	bobbin_space_close(child);
	assert_true(leads_out(f, f->code + 0x10, FRAME, BOBBIN_SOURCE_EH_FRAME));
}

int main(void)
{
#define WALK_TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		WALK_TEST(code_that_debuggers_are_told_of_is_unwound),
		WALK_TEST(tables_that_are_not_loaded_are_taken_from_the_image),
		WALK_TEST(sframe_of_an_image_is_asked_before_its_eh_frame),
		WALK_TEST(relocations_may_be_applied_after_debuggers_are_told),
		WALK_TEST(memory_that_is_used_again_is_read_again),
		WALK_TEST(list_that_looks_as_before_is_read_again_in_time),
		WALK_TEST(files_that_are_mapped_count_more_than_images),
		WALK_TEST(images_are_cut_anew_when_mappings_change),
		WALK_TEST(registered_code_counts_more_than_images),
		WALK_TEST(newest_image_is_right_where_images_contradict_each_other),
		WALK_TEST(hostile_lists_end),
		WALK_TEST(images_that_come_later_do_not_exceed_the_limit_of_bytes),
		WALK_TEST(tables_of_no_use_are_not_read_without_end),
		WALK_TEST(damage_does_no_harm),
		WALK_TEST(processes_without_memory_that_has_no_file_are_not_searched),
		WALK_TEST(descriptor_that_has_gone_does_not_hide_others),
		WALK_TEST(list_that_changes_while_it_is_read_does_no_harm),
		WALK_TEST(child_has_a_list_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
