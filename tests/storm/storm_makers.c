/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of the form
 *
 *	0	sub  $SIZE, %rsp
 *	7	call *%rdi
 *	9	add  $SIZE, %rsp
 *	16	ret
 *
 * in a place that belongs to one thread.  SIZE is another one each time.
 */
#include "storm.h"

#include <bobbin/codectl.h>
#include <bobbin/jit.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PLACES 8 /* of each maker */
#define MAKERS_MAX 8
#define CODE_SIZE 17
#define SECTION_ROOM 256

struct place {
	uint8_t *code;  /* writable */
	uint64_t start; /* where it runs */
	_Alignas(8) uint8_t table[256];
};

static struct place all_places[MAKERS_MAX][PLACES];

static void put32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void write_code(struct place *place, uint32_t size)
{
	uint8_t code[CODE_SIZE] = {0x48, 0x81, 0xec, 0, 0, 0, 0, 0xff, 0xd7,
				   0x48, 0x81, 0xc4, 0, 0, 0, 0, 0xc3};

	put32(code + 3, size);
	put32(code + 12, size);
	memcpy(place->code, code, sizeof(code));
}

static void rows_of(uint32_t size, struct bobbin_sframe_row rows[3])
{
	const struct bobbin_arch *arch = bobbin_arch_amd64();

	rows[0] = (struct bobbin_sframe_row){0, bobbin_jit_rule_sp(arch, 8, 0, 0)};
	rows[1] = (struct bobbin_sframe_row){7, bobbin_jit_rule_sp(arch, 8 + (int32_t)size, 0, 0)};
	rows[2] = (struct bobbin_sframe_row){16, bobbin_jit_rule_sp(arch, 8, 0, 0)};
}

static struct bobbin_sframe_function function_of(const struct place *place,
						 const struct bobbin_sframe_row rows[3])
{
	return (struct bobbin_sframe_function){
		.start = place->start, .size = CODE_SIZE, .rows = rows, .count = 3};
}

/* A section at @place->table; its size, 0: it cannot be made. */
static uint64_t make_section(struct place *place, uint32_t size)
{
	struct bobbin_sframe_builder builder;
	struct bobbin_sframe_built fde;
	struct bobbin_sframe_row rows[3];
	uint8_t fres[64];
	struct bobbin_sframe_function function = function_of(place, rows);

	rows_of(size, rows);
	if (bobbin_sframe_builder_init(bobbin_arch_amd64(), (uintptr_t)place->table, 3, &builder))
		return 0;
	builder.fdes = &fde;
	builder.fde_max = 1;
	builder.fres = fres;
	builder.fre_max = sizeof(fres);
	if (bobbin_sframe_builder_add(&builder, &function) ||
	    bobbin_sframe_builder_finish(&builder, place->table, sizeof(place->table)))
		return 0;
	return bobbin_sframe_builder_size(&builder);
}

__attribute__((noinline)) void call_place(const struct place *place, void (*callback)(void))
{
	void (*function)(void (*)(void)) = (void (*)(void (*)(void)))(uintptr_t)place->start;

	function(callback);
	atomic_fetch_add_explicit(&storm_counters.made, 1, memory_order_relaxed);
}

static _Thread_local const struct place *running __attribute__((tls_model("initial-exec")));

__attribute__((noinline)) void walk_from_place(void)
{
	storm_walk(running->start, running->start + CODE_SIZE, false);
	__asm__ volatile("");
}

static void run_place(const struct place *place)
{
	running = place;
	call_place(place, walk_from_place);
	call_place(place, walk_from_place);
}

static void through_setup(struct place *place, uint32_t size)
{
	struct sframe_setup setup = {.sframe_start = (uintptr_t)place->table,
				     .sframe_size = make_section(place, size),
				     .text_start = place->start,
				     .text_size = CODE_SIZE};
	int r = bobbin_sframe_register(&setup, sizeof(setup), NULL);

	if (r)
		storm_failed("sframe_register", r);
	run_place(place);
	setup = (struct sframe_setup){.sframe_start = (uintptr_t)place->table};
	r = bobbin_sframe_unregister(&setup, sizeof(setup));
	if (r)
		storm_failed("sframe_unregister", r);
}

static void through_elf(struct place *place, uint32_t size)
{
	struct code_elf_info info = {.text_start = place->start,
				     .text_end = place->start + CODE_SIZE,
				     .sframe_start = (uintptr_t)place->table,
				     .pathname = (uintptr_t) "/storm"};
	int r;

	info.sframe_end = info.sframe_start + make_section(place, size);
	r = bobbin_codectl(CODE_REGISTER_ELF, &info, sizeof(info), 0, NULL);
	if (r)
		storm_failed("CODE_REGISTER_ELF", r);
	run_place(place);
	r = bobbin_codectl(CODE_UNREGISTER, &info, sizeof(info), 0, NULL);
	if (r)
		storm_failed("CODE_UNREGISTER of an image", r);
}

/* The entries appear when the table is in use. */
static void through_jit(struct place *place, uint32_t size)
{
	struct bobbin_sframe_row rows[3];
	struct bobbin_sframe_function function = function_of(place, rows);
	struct bobbin_jit_writer writer;
	struct code_jit_info info;
	int r;

	rows_of(size, rows);
	r = bobbin_jit_writer_init(bobbin_arch_amd64(), place->start, CODE_SIZE, place->table,
				   sizeof(place->table), &writer);
	if (r)
		storm_failed("bobbin_jit_writer_init", r);
	bobbin_jit_writer_info(&writer, &info);
	r = bobbin_codectl(CODE_REGISTER_JIT, &info, sizeof(info), 0, NULL);
	if (r)
		storm_failed("CODE_REGISTER_JIT", r);
	r = bobbin_jit_writer_append(&writer, &function);
	if (r)
		storm_failed("bobbin_jit_writer_append", r);
	run_place(place);
	r = bobbin_codectl(CODE_UNREGISTER, &info, sizeof(info), 0, NULL);
	if (r)
		storm_failed("CODE_UNREGISTER of a JIT's code", r);
}

static void make_once(struct actor *actor, unsigned int door)
{
	struct place *place = &actor->places[arbitrary(actor, PLACES)];
	uint32_t size = (uint32_t)(8 + 16 * arbitrary(actor, 64));

	write_code(place, size);
	if (door == 0)
		through_setup(place, size);
	else if (door == 1)
		through_elf(place, size);
	else
		through_jit(place, size);
}

__attribute__((noinline)) void maker_round(struct actor *actor)
{
	if (!actor->places)
		actor->places = all_places[actor->number % MAKERS_MAX];
	make_once(actor, (unsigned int)arbitrary(actor, 3));
}

bool maker_in_child(struct actor *actor)
{
	unsigned long wrong = atomic_load(&storm_counters.wrong);
	unsigned long failed = atomic_load(&storm_counters.failed);

	for (unsigned int i = 0; i < 6; i++)
		make_once(actor, i % 3);
	return atomic_load(&storm_counters.wrong) == wrong &&
	       atomic_load(&storm_counters.failed) == failed;
}

/* The same memory twice, so that it need not be made writable and executable in turn. */
static void map_places(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), step = 64;
	int fd = memfd_create("storm", MFD_CLOEXEC);
	uint8_t *writable, *text;

	if (fd < 0 || ftruncate(fd, (off_t)page * MAKERS_MAX))
		storm_failed("memfd", errno);
	writable = mmap(NULL, page * MAKERS_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	text = mmap(NULL, page * MAKERS_MAX, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	close(fd);
	if (writable == MAP_FAILED || text == MAP_FAILED)
		storm_failed("mmap", errno);
	for (size_t i = 0; i < MAKERS_MAX; i++) {
		for (size_t j = 0; j < PLACES; j++) {
			all_places[i][j].code = writable + i * page + j * step;
			all_places[i][j].start = (uintptr_t)text + i * page + j * step;
		}
	}
}

void maker_init(void)
{
	uint64_t caller_start, caller_end;
	struct known_code *callback;

	map_places();
	chain_function_range((const void *)call_place, &caller_start, &caller_end);
	for (size_t i = 0; i < MAKERS_MAX; i++)
		for (size_t j = 0; j < PLACES; j++)
			chain_add_caller(chain_add(all_places[i][j].start,
						   all_places[i][j].start + CODE_SIZE),
					 caller_start, caller_end);
	callback = chain_add_function((const void *)walk_from_place);
	chain_add_caller(callback, all_places[0][0].start,
			 all_places[MAKERS_MAX - 1][PLACES - 1].start + CODE_SIZE);
}
