/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Damaged and forged files cost their names, never a crash or a hang, not even of
 * the process that reads them.  Each trial runs under a limit of time; the
 * sanitizers watch the memory.
 */
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define TRIAL_SECONDS 20
#define FLIP_TRIALS 400

static void on_loss(void *ctx, const char *path, const char *reason)
{
	fail_msg("%s: who reads it %s", path, reason);
}

static const struct symbolizer_options everything = {
	.inlines = true,
	.lines = true,
	.demangle = true,
	.memory_limit = 64 << 20,
	.on_loss = on_loss,
};

static const char source[] =
	"#include <vector>\n#include <string>\n#include <algorithm>\n"
	"struct base { virtual ~base() {} virtual int f(int) = 0; };\n"
	"struct one : base { int f(int x) override { return x + 1; } };\n"
	"__attribute__((noinline)) int sum(const std::vector<int> &v)\n"
	"{ int s = 0; for (int x : v) s += x; return s; }\n"
	"int run(std::vector<std::string> &v, base &b)\n"
	"{ std::sort(v.begin(), v.end()); std::vector<int> n; for (auto &s : v)\n"
	"  n.push_back(b.f((int)s.size())); return sum(n); }\n"
	"int main(int argc, char **argv)\n"
	"{ std::vector<std::string> v(argv, argv + argc); one o; return run(v, o); }\n";

static uint64_t random_state = 42;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Look up addresses all over the image; the results must at least be readable. */
static unsigned int ask(const uint8_t *image, size_t size)
{
	struct symbolizer *s = open_symbolizer(&everything);
	struct symbol f[32];
	unsigned int id, found = 0;

	alarm(TRIAL_SECONDS);
	if (!symbolizer_image(s, image, size, "image", &id))
		for (uint64_t at = 0x1000; at < 0x3000 && at < size; at += 97) {
			int n = symbolizer_resolve(s, id, at, f, 32);

			for (int i = 0; i < n; i++)
				found += strlen(f[i].name) > 0;
		}
	symbolizer_close(s);
	alarm(0);
	return found;
}

static const char *const kinds[] = {"-gdwarf-5", "-gdwarf-4", "-gdwarf-5 -gz=zlib", "-g0"};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

/* The program built with kinds[kind], as victim.KIND and in memory; built once. */
static uint8_t *victim(size_t kind, size_t *size)
{
	char path[32];

	snprintf(path, sizeof(path), "victim.%zu", kind);
	if (access(path, F_OK)) {
		write_text("victim.cc", source);
		run("g++ -O2 %s victim.cc -o %s", kinds[kind], path);
	}
	return read_bytes(path, size);
}

static void undamaged_files_have_names(void **state)
{
	for (size_t i = 0; i < KINDS; i++) {
		size_t size;
		uint8_t *image = victim(i, &size);

		assert_true(ask(image, size) > 20);
		free(image);
	}
}

static void truncated_files_do_no_harm(void **state)
{
	for (size_t i = 0; i < KINDS; i++) {
		size_t size;
		uint8_t *image = victim(i, &size);

		for (size_t n = 1; n < size; n += 1 + size / 150) {
			uint8_t *exact = malloc(n); /* so that one byte beyond is noticed */

			assert_non_null(exact);
			memcpy(exact, image, n);
			ask(exact, n);
			free(exact);
		}
		free(image);
	}
}

/* Headers and tables are small and matter most, so half of the flips go there. */
static size_t pick_byte(size_t size)
{
	switch (next_random() % 4) {
	case 0:
		return next_random() % 1024;
	case 1:
		return size - 1 - next_random() % 2560;
	default:
		return next_random() % size;
	}
}

static void flipped_bits_do_no_harm(void **state)
{
	for (size_t i = 0; i < KINDS; i++) {
		size_t size;
		uint8_t *image = victim(i, &size), *copy = malloc(size);

		assert_non_null(copy);
		for (int trial = 0; trial < FLIP_TRIALS; trial++) {
			int flips = 1 << next_random() % 7;

			memcpy(copy, image, size);
			while (flips--)
				copy[pick_byte(size)] ^= (uint8_t)(1 << next_random() % 8);
			ask(copy, size);
		}
		free(copy);
		free(image);
	}
}

/* Overwrite one debug section with random bytes, or with bytes that vary little. */
static void scrambled_sections_do_no_harm(void **state)
{
	static const char *const sections[] = {".debug_info",     ".debug_abbrev", ".debug_line",
					       ".debug_rnglists", ".debug_str",    ".symtab",
					       ".strtab",         ".rela.plt",     ".dynsym"};
	size_t size;
	uint8_t *image = victim(0, &size), *copy = malloc(size);

	assert_non_null(copy);
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		char line[64];
		size_t start, len;
		char *end;

		output_of(line, sizeof(line),
			  "readelf -SW victim.0 | sed 's/.*\\] //' | "
			  "awk '$1 == \"%s\" { print \"0x\" $4, \"0x\" $5 }'",
			  sections[i]);
		start = strtoull(line, &end, 16);
		len = strtoull(end, NULL, 16);
		assert_true(start && len && start + len <= size);
		for (int trial = 0; trial < 24; trial++) {
			uint64_t mask = trial % 3 == 0 ? 0xff : trial % 3 == 1 ? 0x1f : 0x03;

			memcpy(copy, image, size);
			for (size_t at = trial % 8; at < len; at++)
				copy[start + at] = (uint8_t)(next_random() & mask);
			ask(copy, size);
		}
	}
	free(copy);
	free(image);
}

/*
 * Assemble a unit with these DIEs around a main() and ask for main(); it must
 * be found within a second or so whatever the DWARF claims.
 */
static void ask_forged(const char *abbrevs, const char *info, const char *more)
{
	static char text[16384];
	struct symbolizer *s = open_symbolizer(&everything);
	struct symbol f[64];
	clock_t start;
	int n;

	snprintf(text, sizeof(text),
		 ".text\n.globl main\n.type main, @function\nmain: nop\nnop\nret\n"
		 ".size main, . - main\n"
		 ".section .debug_abbrev, \"\", @progbits\n.Labbrev:\n"
		 ".uleb128 1, 0x11\n.byte 1\n.uleb128 0x11, 1, 0x12, 7, 0, 0\n%s.byte 0\n"
		 ".section .debug_info, \"\", @progbits\n.Linfo:\n"
		 ".long .Lend - .Lstart\n.Lstart:\n.value 4\n.long .Labbrev\n.byte 8\n"
		 ".uleb128 1\n.quad main, 3\n%s.Lend:\n%s"
		 ".section .note.GNU-stack\n",
		 abbrevs, info, more);
	write_text("forged.s", text);
	run("gcc forged.s -o forged");
	start = clock();
	alarm(TRIAL_SECONDS);
	n = resolve(s, "forged", offset_of("forged", "main", 1), f, 64);
	alarm(0);
	assert_true(n >= 1);
	assert_string_equal(f[n < 64 ? n - 1 : 0].name, n < 64 ? "main" : f[0].name);
	assert_true(clock() - start < 10 * CLOCKS_PER_SEC);
	symbolizer_close(s);
}

/* An inlined call with the code of main() and children. */
#define NEST_ABBREV ".uleb128 2, 0x1d\n.byte 1\n.uleb128 0x11, 1, 0x12, 7, 0, 0\n"

/* elfutils 0.188 runs out of stack in dwarf_getscopes() with such a file. */
static void a_million_nested_scopes_do_not_exhaust_the_stack(void **state)
{
	ask_forged(NEST_ABBREV,
		   ".rept 1000000\n.byte 2\n.quad main, 3\n.endr\n.fill 1000001, 1, 0\n", "");
}

static void names_that_refer_in_circles_end(void **state)
{
	ask_forged(".uleb128 2, 0x2e\n.byte 0\n.uleb128 0x31, 0x13, 0x11, 1, 0x12, 7, 0, 0\n",
		   ".Ldie: .uleb128 2\n.long .Ldie - .Linfo\n.quad main, 3\n.byte 0\n", "");
}

/* A hundred thousand functions, each with the same hundred thousand ranges. */
static void shared_range_lists_do_not_multiply(void **state)
{
	ask_forged(".uleb128 2, 0x2e\n.byte 0\n.uleb128 0x55, 0x17, 0, 0\n",
		   ".rept 100000\n.uleb128 2\n.long 0\n.endr\n.byte 0\n",
		   ".section .debug_ranges, \"\", @progbits\n"
		   ".rept 100000\n.quad 1, 2\n.endr\n.quad 0, 0\n");
}

/* Each DIE of one byte has a hundred thousand attributes of none. */
static void empty_attributes_do_not_multiply(void **state)
{
	ask_forged(".uleb128 2, 0x34\n.byte 0\n.rept 100000\n.uleb128 0x3f, 0x19\n.endr\n"
		   ".uleb128 0, 0\n",
		   ".fill 1000000, 1, 2\n.byte 0\n", "");
}

static void compressed_section_may_not_claim_more_than_the_limit(void **state)
{
	struct symbolizer_options small = everything;
	struct symbolizer_stats stats;
	struct symbolizer *s;
	struct symbol f[8];

	small.memory_limit = 1 << 20;
	s = open_symbolizer(&small);
	write_text("bomb.c", "int main(void) { return 0; }\n");
	run("gcc -g bomb.c -o bomb && head -c 100000000 /dev/zero >zeros && "
	    "objcopy --update-section .debug_info=zeros --compress-debug-sections=zlib bomb");
	assert_int_equal(resolve(s, "bomb", offset_of("bomb", "main", 1), f, 8), 1);
	assert_string_equal(f[0].name, "main");
	symbolizer_get_stats(s, &stats);
	assert_true(stats.memory < 2 << 20);
	symbolizer_close(s);
}

static void mini_debuginfo_may_not_claim_more_than_the_limit(void **state)
{
	struct symbolizer_options small = everything;
	struct symbolizer_stats stats;
	struct symbolizer *s;
	struct symbol f[8];

	small.memory_limit = 1 << 20;
	s = open_symbolizer(&small);
	write_text("bomb.c", "int called(void) { return 0; }\n");
	run("gcc -shared -fPIC bomb.c -o bomb.so && cp bomb.so whole.so && strip bomb.so && "
	    "head -c 100000000 /dev/zero | xz >zeros.xz && "
	    "objcopy --add-section .gnu_debugdata=zeros.xz bomb.so");
	assert_int_equal(resolve(s, "bomb.so", offset_of("whole.so", "called", 1), f, 8), 1);
	assert_string_equal(f[0].name, "called");
	symbolizer_get_stats(s, &stats);
	assert_true(stats.memory < 2 << 20);
	symbolizer_close(s);
}

static void file_that_shrinks_while_open_is_survived(void **state)
{
	struct symbolizer *s = open_symbolizer(&everything);
	struct symbol f[8];
	uint64_t at;

	write_text("shrink.c", "int main(void) { return 0; }\nint other(void) { return 1; }\n");
	run("gcc -g shrink.c -o shrink");
	at = offset_of("shrink", "main", 1);
	assert_int_equal(resolve(s, "shrink", at, f, 8), 1);
	assert_int_equal(truncate("shrink", 4096), 0);
	for (uint64_t more = 0; more < 64; more++)
		assert_true(resolve(s, "shrink", at + more, f, 8) >= 0);
	symbolizer_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(undamaged_files_have_names),
		cmocka_unit_test(truncated_files_do_no_harm),
		cmocka_unit_test(flipped_bits_do_no_harm),
		cmocka_unit_test(scrambled_sections_do_no_harm),
		cmocka_unit_test(a_million_nested_scopes_do_not_exhaust_the_stack),
		cmocka_unit_test(names_that_refer_in_circles_end),
		cmocka_unit_test(shared_range_lists_do_not_multiply),
		cmocka_unit_test(empty_attributes_do_not_multiply),
		cmocka_unit_test(compressed_section_may_not_claim_more_than_the_limit),
		cmocka_unit_test(mini_debuginfo_may_not_claim_more_than_the_limit),
		cmocka_unit_test(file_that_shrinks_while_open_is_survived),
	};

	return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
