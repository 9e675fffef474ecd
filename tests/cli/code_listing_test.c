/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/code_listing.h"

#include <elf.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "../own_directory.h"
#include "unwind/space.h"

/* Where the file of a test has its function, and where that is mapped. */
#define START 0x100
#define MAPPED 0x7000000

static struct bobbin_unwinder *unwinder;
static struct bobbin_space *space;

/* push %rbx; call START - 0x80; mov %eax, (%rbx); jle START; pop %rbx; ret */
static const uint8_t x86_code[] = {0x53, 0xe8, 0x7a, 0xff, 0xff, 0xff,
				   0x89, 0x03, 0x7e, 0xf6, 0x5b, 0xc3};
/* stp x29, x30, [sp, #-16]!; bl START - 0x80; ret */
static const uint8_t a64_code[] = {0xfd, 0x7b, 0xbf, 0xa9, 0xdf, 0xff,
				   0xff, 0x97, 0xc0, 0x03, 0x5f, 0xd6};

static void write_elf(unsigned int machine, const uint8_t *code, size_t size)
{
	Elf64_Ehdr header = {.e_type = ET_DYN,
			     .e_machine = (Elf64_Half)machine,
			     .e_version = EV_CURRENT,
			     .e_ehsize = sizeof(header),
			     .e_phoff = sizeof(header),
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phnum = 1};
	const Elf64_Phdr segment = {.p_type = PT_LOAD,
				    .p_flags = PF_R | PF_X,
				    .p_filesz = START + size,
				    .p_memsz = START + size,
				    .p_align = 0x1000};
	uint8_t bytes[START + 64] = {0};
	FILE *file = fopen("program", "w");

	assert_non_null(file);
	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_ident[EI_VERSION] = EV_CURRENT;
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), &segment, sizeof(segment));
	memcpy(bytes + START, code, size);
	assert_int_equal(fwrite(bytes, START + size, 1, file), 1);
	fclose(file);
}

/* The function of the file, which is mapped for it. */
static struct code_function map_file(const struct bobbin_arch *arch, const char *directory)
{
	static char path[PATH_MAX];
	const struct bobbin_unwinder_options options = {.size = sizeof(options)};
	struct code_function function = {.name = "f", .dso = path, .kind = FRAME_USER};
	struct stat st;

	snprintf(path, sizeof(path), "%s/program", directory);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(bobbin_unwinder_open(&options, &unwinder), 0);
	assert_int_equal(bobbin_space_open(unwinder, arch, &space), 0);
	function.mapping = (struct bobbin_mapping){.start = MAPPED,
						   .end = MAPPED + 0x1000,
						   .path = path,
						   .major = major(st.st_dev),
						   .minor = minor(st.st_dev),
						   .ino = st.st_ino};
	assert_int_equal(bobbin_space_map(space, &function.mapping), 0);
	function.file = space_find(space, MAPPED)->file;
	function.start = START;
	function.pc = MAPPED + START;
	function.arch = arch;
	return function;
}

static void unmap_file(void)
{
	bobbin_space_close(space);
	bobbin_unwinder_close(unwinder);
}

static void check_insn(const struct code_listing *listing, size_t at, uint64_t weight,
		       const char *text, uint64_t target)
{
	char found[INSN_TEXT_MAX];

	assert_true(at < listing->count);
	assert_int_equal(code_listing_text(listing, &listing->insns[at], found), target);
	assert_string_equal(found, text);
	assert_int_equal(listing->insns[at].weight, weight);
}

static void needs_decoder(const struct bobbin_arch *arch)
{
	if (!machine_read_here(arch))
		skip();
}

static void points_belong_to_the_instruction_that_has_their_byte(void **state)
{
	/* within an instruction, and behind the function */
	const struct code_point points[] = {
		{0, 5, 0}, {6, 1, 0}, {7, 2, 0}, {11, 4, 0}, {64, 8, 0}};
	struct code_function function;
	struct code_listing listing;

	needs_decoder(bobbin_arch_amd64());
	write_elf(EM_X86_64, x86_code, sizeof(x86_code));
	function = map_file(bobbin_arch_amd64(), *state);
	function.size = sizeof(x86_code);
	function.count = 5;
	assert_int_equal(code_listing_init(&listing, unwinder, NULL, &function, points), 0);
	assert_null(listing.missing);
	assert_int_equal(listing.count, 7);
	check_insn(&listing, 0, 5, "push %rbx", 0);
	check_insn(&listing, 1, 0, "call 80", (uint64_t)-0x80);
	check_insn(&listing, 2, 3, "mov %eax, (%rbx)", 0);
	check_insn(&listing, 3, 0, "jle 100", 0);
	check_insn(&listing, 5, 4, "ret", 0);
	check_insn(&listing, 6, 8, "", 0);
	code_listing_fini(&listing);
	unmap_file();
}

static void a_function_of_unknown_size_ends_after_its_last_sample(void **state)
{
	const struct code_point points[] = {{6, 1, 0}};
	struct code_function function;
	struct code_listing listing;

	needs_decoder(bobbin_arch_amd64());
	write_elf(EM_X86_64, x86_code, sizeof(x86_code));
	function = map_file(bobbin_arch_amd64(), *state);
	function.count = 1;
	assert_int_equal(code_listing_init(&listing, unwinder, NULL, &function, points), 0);
	assert_int_equal(listing.count, 6);
	code_listing_fini(&listing);
	unmap_file();
}

static void code_of_aarch64_is_read_on_any_machine(void **state)
{
	const struct code_point points[] = {{4, 3, 0}};
	struct code_function function;
	struct code_listing listing;

	needs_decoder(bobbin_arch_aarch64());
	write_elf(EM_AARCH64, a64_code, sizeof(a64_code));
	function = map_file(bobbin_arch_aarch64(), *state);
	function.size = sizeof(a64_code);
	function.count = 1;
	assert_int_equal(code_listing_init(&listing, unwinder, NULL, &function, points), 0);
	assert_null(listing.missing);
	assert_int_equal(listing.count, 3);
	check_insn(&listing, 0, 0, "stp x29, x30, [sp, #-0x10]!", 0);
	check_insn(&listing, 1, 3, "bl 80", (uint64_t)-0x80);
	check_insn(&listing, 2, 0, "ret", 0);
	code_listing_fini(&listing);
	unmap_file();
}

static void without_bytes_each_point_is_an_instruction(void **state)
{
	const struct code_point points[] = {{0, 5, 0}, {1, 1, 0}};
	struct code_function function;
	struct code_listing listing;

	write_elf(EM_X86_64, x86_code, sizeof(x86_code));
	function = map_file(bobbin_arch_amd64(), *state);
	function.count = 2;
	assert_int_equal(unlink("program"), 0);
	assert_int_equal(code_listing_init(&listing, unwinder, NULL, &function, points), 0);
	assert_non_null(listing.missing);
	assert_int_equal(listing.count, 2);
	check_insn(&listing, 1, 1, "", 0);
	code_listing_fini(&listing);
	function.file = NULL;
	function.kind = FRAME_KERNEL;
	assert_int_equal(code_listing_init(&listing, unwinder, NULL, &function, points), 0);
	assert_non_null(strstr(listing.missing, "kernel"));
	assert_int_equal(listing.count, 2);
	code_listing_fini(&listing);
	unmap_file();
}

static void another_file_below_a_folder_is_refused(void **state)
{
	const struct code_point points[] = {{0, 5, 0}};
	struct code_function function;
	struct code_listing listing;

	needs_decoder(bobbin_arch_amd64());
	write_elf(EM_X86_64, x86_code, sizeof(x86_code));
	function = map_file(bobbin_arch_amd64(), *state);
	function.count = 1;
	assert_int_equal(code_listing_init(&listing, unwinder, "/", &function, points), 0);
	assert_null(listing.missing);
	code_listing_fini(&listing);
	unmap_file();
	/* it has no build ID */
	function = map_file(bobbin_arch_amd64(), *state);
	function.count = 1;
	((struct mapped_file *)function.file)->build_id_len = 20;
	assert_int_equal(code_listing_init(&listing, unwinder, "/", &function, points), 0);
	assert_non_null(strstr(listing.missing, "build ID"));
	code_listing_fini(&listing);
	unmap_file();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_directory, leave_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(points_belong_to_the_instruction_that_has_their_byte),
		TEST(a_function_of_unknown_size_ends_after_its_last_sample),
		TEST(code_of_aarch64_is_read_on_any_machine),
		TEST(without_bytes_each_point_is_an_instruction),
		TEST(another_file_below_a_folder_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
