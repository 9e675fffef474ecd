/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names, inlined functions and lines of programs that the test builds. */
#include "program.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* work() is line 2, its callers are lines 3 to 5. */
#define NESTED \
	"volatile int sink;\n" \
	"static inline __attribute__((always_inline)) void work(int x) { sink = x; sink = 7; }\n" \
	"static inline __attribute__((always_inline)) void middle(int x) { work(x + 1); }\n" \
	"__attribute__((noinline)) void outer(int x) { middle(x * 2); }\n" \
	"static __attribute__((noinline)) void hidden(int x) { outer(x); sink = 9; }\n" \
	"int main(int argc, char **argv) { hidden(argc); return 0; }\n"

#define EVERYTHING \
	{ \
		.inlines = true, .lines = true, .demangle = true \
	}

static const struct symbolizer_options everything = EVERYTHING;
static const struct symbolizer_options names_only = {.demangle = true};

static void build_nested(const char *options, const char *path)
{
	write_text("nested.c", NESTED);
	run("gcc -O2 -g %s nested.c -o %s", options, path);
}

/* Somewhere from @start of outer() on is the store of 7: work() in middle() in outer(). */
static void assert_nested(struct symbolizer *s, const char *path, uint64_t start)
{
	struct symbol f[8];
	int n = 0;

	for (uint64_t at = start; n != 3 && at < start + 64; at++)
		n = resolve(s, path, at, f, 8);
	assert_int_equal(n, 3);
	assert_string_equal(f[0].name, "work");
	assert_string_equal(f[1].name, "middle");
	assert_string_equal(f[2].name, "outer");
	assert_true(f[0].inlined && f[1].inlined && !f[2].inlined);
	assert_int_equal(f[0].line, 2);
	assert_int_equal(f[1].line, 3);
	assert_int_equal(f[2].line, 4);
	assert_non_null(strstr(f[0].src_file, "/nested.c"));
	assert_true(f[2].offset < f[2].size);
}

static void inlined_functions_come_innermost_first(void **state)
{
	static const char *const options[] = {
		"-gdwarf-2",
		"-gdwarf-3",
		"-gdwarf-4",
		"-gdwarf-5",
		"-gdwarf64",
		"-flto",
		"-gz=zlib",
		"-gz=zlib-gnu",
		"-no-pie",
		"-static",
		"-gdwarf-4 -flto",
		"-ffunction-sections",
		"-gdwarf-5 -fdebug-types-section",
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		struct symbolizer *s = open_symbolizer(&everything);

		print_message("%s\n", options[i]);
		build_nested(options[i], "nested");
		assert_nested(s, "nested", offset_of("nested", "outer", 0));
		symbolizer_close(s);
	}
}

static void clang_is_understood_too(void **state)
{
	if (!runs("clang --version")) {
		print_message("clang is not installed\n");
		skip();
	}
	for (int version = 2; version <= 5; version++) {
		struct symbolizer *s = open_symbolizer(&everything);

		write_text("nested.c", NESTED);
		run("clang -O2 -gdwarf-%d nested.c -o nested", version);
		assert_nested(s, "nested", offset_of("nested", "outer", 0));
		symbolizer_close(s);
	}
}

/* libelf reads zstd since 0.189; before that such a file has names only. */
static void zstd_compressed_sections_do_not_cost_names(void **state)
{
	struct symbolizer *s = open_symbolizer(&everything);
	struct symbol f[8];
	int n;

	build_nested("", "nested");
	if (!runs("objcopy --compress-debug-sections=zstd nested nested.zstd")) {
		print_message("this objcopy cannot compress with zstd\n");
		symbolizer_close(s);
		skip();
	}
	n = resolve(s, "nested.zstd", offset_of("nested", "outer", 4), f, 8);
	assert_true(n == 1 || n == 3);
	assert_string_equal(f[n - 1].name, "outer");
	symbolizer_close(s);
}

/* Freestanding code: only a compiler of the other architecture is needed. */
static void check_other_machine(const char *compiler)
{
	struct symbolizer *s = open_symbolizer(&everything);

	write_text("nested.c", NESTED);
	if (!runs("%s -O2 -g -nostdlib -shared nested.c -o nested.so", compiler)) {
		print_message("%s is not installed\n", compiler);
		symbolizer_close(s);
		skip();
	}
	assert_nested(s, "nested.so", offset_of("nested.so", "outer", 0));
	symbolizer_close(s);
}

static void big_endian_files_are_read(void **state)
{
	check_other_machine("s390x-linux-gnu-gcc -fPIC");
}

static void aarch64_files_are_read(void **state)
{
	check_other_machine("aarch64-linux-gnu-gcc -fPIC");
}

static void thirty_two_bit_files_are_read(void **state)
{
	check_other_machine("gcc -m32");
}

static void without_inlines_there_is_one_frame(void **state)
{
	struct symbolizer_options lines = {.lines = true};
	struct symbolizer *s = open_symbolizer(&lines);
	struct symbol f[2];

	build_nested("", "nested");
	assert_int_equal(resolve(s, "nested", offset_of("nested", "outer", 4), f, 2), 1);
	assert_string_equal(f[0].name, "outer");
	assert_int_equal(f[0].line, 2);
	symbolizer_close(s);
}

/* A .dwo file may be anything, such as a FIFO that makes its reader wait. */
static void files_that_dwarf_names_are_not_opened(void **state)
{
	struct symbolizer *s = open_symbolizer(&everything);
	struct symbol f[8];

	write_text("nested.c", NESTED);
	run("gcc -O2 -g -gsplit-dwarf -c nested.c -o nested.o && gcc nested.o -o split && "
	    "rm -f nested.dwo && mkfifo nested.dwo");
	assert_int_equal(resolve(s, "split", offset_of("split", "hidden", 1), f, 8), 1);
	assert_string_equal(f[0].name, "hidden");
	assert_true(f[0].line > 0);
	symbolizer_close(s);
}

static void names_alone_do_not_touch_dwarf(void **state)
{
	struct symbolizer *s = open_symbolizer(&names_only);
	struct symbolizer_stats stats;
	struct symbol f[2];

	build_nested("", "nested");
	assert_int_equal(resolve(s, "nested", offset_of("nested", "hidden", 1), f, 2), 1);
	assert_string_equal(f[0].name, "hidden");
	assert_null(f[0].src_file);
	symbolizer_get_stats(s, &stats);
	assert_true(stats.memory < 256 << 10);
	symbolizer_close(s);
}

static void nothing_is_opened_before_it_is_needed(void **state)
{
	struct symbolizer *s = open_symbolizer(&everything);
	struct symbolizer_stats stats;
	struct symbol f[8];
	unsigned int id;

	unlink("late");
	assert_int_equal(symbolizer_file(s, &(struct symbol_file){.path = "late"}, &id), 0);
	build_nested("", "late");
	symbolizer_get_stats(s, &stats);
	assert_int_equal(stats.open, 0);
	assert_int_equal(symbolizer_resolve(s, id, offset_of("late", "outer", 4), f, 8), 3);
	symbolizer_close(s);
}

static void array_that_is_too_short_gets_the_innermost(void **state)
{
	struct symbolizer *s = open_symbolizer(&everything);
	struct symbol f[2];

	build_nested("", "nested");
	assert_int_equal(resolve(s, "nested", offset_of("nested", "outer", 4), f, 2), 2);
	assert_string_equal(f[1].name, "middle");
	assert_true(f[1].inlined);
	symbolizer_close(s);
}

static void stripped_file_names_what_it_exports(void **state)
{
	struct symbolizer *s = open_symbolizer(&everything);
	struct symbol f[8];

	build_nested("-shared -fPIC", "nested.so");
	run("strip -o stripped.so nested.so");
	assert_int_equal(resolve(s, "stripped.so", offset_of("nested.so", "outer", 4), f, 8), 1);
	assert_string_equal(f[0].name, "outer");
	assert_int_equal(resolve(s, "stripped.so", offset_of("nested.so", "hidden", 1), f, 8), 0);
	symbolizer_close(s);
}

static void debug_link_is_followed(void **state)
{
	struct symbolizer *s = open_symbolizer(&everything);

	build_nested("-Wl,--build-id=none", "nested");
	run("rm -rf linked && mkdir -p linked/.debug && "
	    "objcopy --only-keep-debug nested linked/.debug/x.debug && "
	    "cd linked && strip -o x ../nested && cd .debug && "
	    "objcopy --add-gnu-debuglink=x.debug ../x");
	assert_nested(s, "linked/x", offset_of("nested", "outer", 0));
	symbolizer_close(s);
}

static void debug_link_with_another_checksum_is_refused(void **state)
{
	struct symbolizer *s = open_symbolizer(&everything);
	struct symbol f[8];

	build_nested("-Wl,--build-id=none", "nested");
	run("rm -rf linked && mkdir linked && objcopy --only-keep-debug nested linked/x.debug && "
	    "cd linked && strip -o x ../nested && objcopy --add-gnu-debuglink=x.debug x && "
	    "echo >>x.debug");
	assert_int_equal(resolve(s, "linked/x", offset_of("nested", "outer", 4), f, 8), 0);
	symbolizer_close(s);
}

/* Put the debug file of @path where a build ID is looked up below ./store. */
static void store_debug_file(const char *path, const char *name)
{
	char digits[129];
	uint8_t id[64];

	assert_true(build_id_of(path, digits, id) > 2);
	run("mkdir -p store/.build-id/%.2s && objcopy --only-keep-debug %s "
	    "store/.build-id/%.2s/%s%s",
	    digits, path, digits, digits + 2, name);
}

static void debug_directories_are_searched_by_build_id(void **state)
{
	struct symbolizer_options options = EVERYTHING;
	struct symbolizer *s;

	options.debug_path = "/nonexistent:store";
	s = open_symbolizer(&options);
	build_nested("-Wl,--build-id", "nested");
	run("rm -rf store");
	store_debug_file("nested", ".debug");
	run("strip -o stripped nested");
	assert_nested(s, "stripped", offset_of("nested", "outer", 0));
	symbolizer_close(s);
}

static void debug_file_of_another_build_is_refused(void **state)
{
	struct symbolizer_options options = EVERYTHING;
	struct symbolizer *s;
	struct symbol f[8];

	options.debug_path = "store";
	s = open_symbolizer(&options);
	build_nested("-Wl,--build-id", "nested");
	run("rm -rf store");
	store_debug_file("nested", ".debug");
	build_nested("-O1 -Wl,--build-id", "other");
	run("cp other forged && objcopy --only-keep-debug forged store/forged && "
	    "for f in store/.build-id/*/*.debug; do cp store/forged $f; done; "
	    "strip -o stripped nested");
	assert_int_equal(resolve(s, "stripped", offset_of("nested", "outer", 4), f, 8), 0);
	symbolizer_close(s);
}

static void replaced_file_is_not_used(void **state)
{
	struct symbolizer *s = open_symbolizer(&everything);
	struct symbol_file file = {.path = "replaced"};
	char digits[129];
	uint8_t id[64];
	struct symbol f[8];
	unsigned int number;

	build_nested("-Wl,--build-id", "nested");
	file.build_id_len = build_id_of("nested", digits, id);
	file.build_id = id;
	build_nested("-O1 -Wl,--build-id", "replaced");
	assert_int_equal(symbolizer_file(s, &file, &number), 0);
	assert_int_equal(symbolizer_resolve(s, number, offset_of("nested", "outer", 4), f, 8), 0);

	/* The same file under a path that still has it. */
	file.open_path = "nested";
	assert_int_equal(symbolizer_file(s, &file, &number), 0);
	assert_int_equal(symbolizer_resolve(s, number, offset_of("nested", "outer", 4), f, 8), 3);
	symbolizer_close(s);
}

static void replaced_file_is_named_by_its_debug_file(void **state)
{
	struct symbolizer_options options = EVERYTHING;
	struct symbol_file file = {.path = "replaced"};
	struct symbolizer *s;
	char digits[129];
	uint8_t id[64];
	struct symbol f[8];
	unsigned int number;

	options.debug_path = "store";
	s = open_symbolizer(&options);
	build_nested("-Wl,--build-id", "nested");
	run("rm -rf store");
	store_debug_file("nested", ".debug");
	build_nested("-O1 -Wl,--build-id", "replaced");
	file.build_id_len = build_id_of("nested", digits, id);
	file.build_id = id;
	assert_int_equal(symbolizer_file(s, &file, &number), 0);
	assert_int_equal(symbolizer_resolve(s, number, offset_of("nested", "outer", 4), f, 8), 3);
	assert_string_equal(f[2].name, "outer");
	symbolizer_close(s);
}

static void symfs_replaces_the_root(void **state)
{
	struct symbolizer_options options = EVERYTHING;
	struct symbolizer *s;

	options.symfs = "other-root";
	s = open_symbolizer(&options);
	build_nested("", "nested");
	run("mkdir -p other-root/usr/bin && cp nested other-root/usr/bin/program");
	assert_nested(s, "/usr/bin/program", offset_of("nested", "outer", 0));
	symbolizer_close(s);
}

static void mini_debuginfo_names_static_functions(void **state)
{
	struct symbolizer *s = open_symbolizer(&everything);
	struct symbol f[8];

	build_nested("-shared -fPIC", "nested.so");
	run("objcopy --only-keep-debug nested.so mini && "
	    "objcopy -S --remove-section .comment --keep-symbol hidden mini mini.min 2>/dev/null; "
	    "strip --strip-debug -o mini.min mini && rm -f mini.min.xz && xz -k mini.min && "
	    "strip -o stripped.so nested.so && "
	    "objcopy --add-section .gnu_debugdata=mini.min.xz stripped.so mini.so");
	assert_int_equal(resolve(s, "mini.so", offset_of("nested.so", "hidden", 1), f, 8), 1);
	assert_string_equal(f[0].name, "hidden");
	assert_int_equal(resolve(s, "mini.so", offset_of("nested.so", "outer", 1), f, 8), 1);
	assert_string_equal(f[0].name, "outer");
	symbolizer_close(s);
}

/* Two functions of one shape in a supplementary file, as distributions make them. */
static void dwz_supplement_is_followed(void **state)
{
	struct symbolizer *s = open_symbolizer(&everything);

	if (!runs("dwz --version")) {
		print_message("dwz is not installed\n");
		symbolizer_close(s);
		skip();
	}
	build_nested("-gdwarf-4", "nested");
	run("rm -f common && cp nested a && cp nested b && dwz -m common -M $PWD/common a b");
	run("readelf -SW a | grep -q gnu_debugaltlink");
	assert_nested(s, "a", offset_of("nested", "outer", 0));
	symbolizer_close(s);
}

/*
 * A call of g() is inlined into two of the five bytes of f(), given by a list
 * that sets its base, as DWARF 4 and 5 spell it.
 */
static void build_with_ranges(int version, const char *list)
{
	static char text[8192];

	snprintf(text, sizeof(text),
		 ".text\n.globl f\n.type f, @function\nf: .fill 5, 1, 0x90\n.size f, 5\n"
		 ".section .debug_abbrev, \"\", @progbits\n.Labbrev:\n"
		 ".uleb128 1, 0x11\n.byte 1\n.uleb128 0x11, 1, 0x12, 7, 0, 0\n"
		 ".uleb128 2, 0x2e\n.byte 1\n.uleb128 3, 8, 0x11, 1, 0x12, 7, 0, 0\n"
		 ".uleb128 3, 0x1d\n.byte 0\n.uleb128 3, 8, 0x55, 0x17, 0, 0\n.byte 0\n"
		 ".section .debug_info, \"\", @progbits\n"
		 ".long .Lend - .Lstart\n.Lstart:\n.value %d\n%s"
		 ".uleb128 1\n.quad f, 5\n"
		 ".uleb128 2\n.asciz \"f\"\n.quad f, 5\n"
		 ".uleb128 3\n.asciz \"g\"\n.long .Llist\n.byte 0, 0\n.Lend:\n"
		 "%s.section .note.GNU-stack\n",
		 version,
		 version < 5 ? ".long .Labbrev\n.byte 8\n" : ".byte 1, 8\n.long .Labbrev\n", list);
	write_text("ranges.s", text);
	run("gcc -shared -nostdlib ranges.s -o ranges.so");
}

static void range_lists_may_set_a_base(void **state)
{
	static const char *const lists[] = {
		".section .debug_ranges, \"\", @progbits\n.Llist:\n"
		".quad -1, f + 1, 0, 1, 2, 3, 0, 0\n",
		".section .debug_rnglists, \"\", @progbits\n.Llist:\n"
		".byte 5\n.quad f + 1\n.byte 4, 0, 1, 4, 2, 3, 0\n",
		".section .debug_rnglists, \"\", @progbits\n.Llist:\n"
		".byte 6\n.quad f + 1, f + 2\n.byte 7\n.quad f + 3\n.byte 1, 0\n",
	};

	for (size_t i = 0; i < 3; i++) {
		struct symbolizer *s = open_symbolizer(&everything);
		uint64_t start;
		struct symbol f[4];

		build_with_ranges(i ? 5 : 4, lists[i]);
		start = offset_of("ranges.so", "f", 0);
		for (uint64_t at = 0; at < 5; at++) {
			int n = resolve(s, "ranges.so", start + at, f, 4);

			assert_int_equal(n, at == 1 || at == 3 ? 2 : 1);
			assert_string_equal(f[0].name, n == 2 ? "g" : "f");
		}
		symbolizer_close(s);
	}
}

static void sizeless_symbols_reach_to_the_next_one(void **state)
{
	struct symbolizer *s = open_symbolizer(&names_only);
	uint64_t first;

	write_text("bare.S", ".text\n.globl _start\n"
			     "_start: nop\nnop\n"
			     "sized: nop\nlabel: nop\nnop\n.size sized, . - sized\n"
			     ".fill 61, 1, 0x90\n"
			     "next: .fill 16, 1, 0x90\n"
			     ".section .other, \"ax\"\n.fill 32, 1, 0x90\n"
			     ".section .note.GNU-stack\n");
	run("gcc -nostdlib -static bare.S -o bare");
	first = offset_of("bare", "_start", 0);
	assert_name_at(s, "bare", first + 1, "_start");
	assert_name_at(s, "bare", first + 3, "sized");
	assert_name_at(s, "bare", first + 4, "sized");
	assert_name_at(s, "bare", first + 5, NULL);
	assert_name_at(s, "bare", first + 60, NULL);
	assert_name_at(s, "bare", first + 66, "next");
	assert_name_at(s, "bare", first + 66 + 15, "next");
	assert_name_at(s, "bare", first + 66 + 16, NULL);
	symbolizer_close(s);
}

static void global_names_win_over_weak_and_local_ones(void **state)
{
	struct symbolizer *s = open_symbolizer(&names_only);

	write_text("alias.S", ".text\n"
			      ".weak a_weak\n.globl ___global\n.globl __global\n.globl _start\n"
			      ".type a_local, @function\n.type a_weak, @function\n"
			      ".type ___global, @function\n.type __global, @function\n"
			      "a_local:\na_weak:\n___global:\n__global:\nnop\nnop\n"
			      ".size a_local, 2\n.size a_weak, 2\n"
			      ".size ___global, 2\n.size __global, 2\n"
			      "_start: nop\n.section .note.GNU-stack\n");
	run("gcc -nostdlib -static alias.S -o alias");
	assert_name_at(s, "alias", offset_of("alias", "a_local", 1), "__global");
	symbolizer_close(s);
}

/* As the debug file of glibc 2.41 has them. */
static void names_of_the_c_library_are_not_those_of_its_own_calls(void **state)
{
	struct symbolizer *s = open_symbolizer(&names_only);

	write_text("internal.S", ".text\n.globl _start\n"
				 ".type __GI___clone3, @function\n.type __clone3, @function\n"
				 ".type __GI_one, @function\n.type ___one, @function\n"
				 "__GI___clone3:\n__clone3:\nnop\n"
				 ".size __GI___clone3, 1\n.size __clone3, 1\n"
				 "___one:\n__GI_one:\nnop\n"
				 ".size ___one, 1\n.size __GI_one, 1\n"
				 "_start: nop\n.section .note.GNU-stack\n");
	run("gcc -nostdlib -static internal.S -o internal");
	assert_name_at(s, "internal", offset_of("internal", "__clone3", 0), "__clone3");
	assert_name_at(s, "internal", offset_of("internal", "___one", 0), "___one");
	symbolizer_close(s);
}

static void versions_do_not_belong_to_names(void **state)
{
	struct symbolizer *s = open_symbolizer(&names_only);
	struct symbol f[1];

	write_text("version.c", "__asm__(\".symver old_call, call@OLD\");\n"
				"int old_call(void) { return 1; }\n");
	write_text("version.map", "OLD { };\nNEW { global: *; } OLD;\n");
	run("gcc -shared -fPIC -O2 version.c -Wl,--version-script=version.map -o version.so");
	assert_int_equal(resolve(s, "version.so", offset_of("version.so", "old_call", 0), f, 1), 1);
	assert_null(strchr(f[0].name, '@'));
	symbolizer_close(s);
}

/* A library's symbol table has them all, as libc's has clock_gettime's. */
static void the_default_version_names_better_than_underscores(void **state)
{
	struct symbolizer *s = open_symbolizer(&names_only);
	struct symbol f[1];

	write_text("default.c", "__asm__(\".symver now, call@@NEW\\n.symver then, call@OLD\");\n"
				"int now(void) { return 1; }\n"
				"int then(void) __attribute__((alias(\"now\")));\n"
				"int __call(void) __attribute__((alias(\"now\")));\n");
	write_text("default.map", "OLD { };\nNEW { global: *; } OLD;\n");
	run("gcc -shared -fPIC -O2 default.c -Wl,--version-script=default.map -o default.so");
	assert_int_equal(resolve(s, "default.so", offset_of("default.so", "__call", 0), f, 1), 1);
	assert_string_equal(f[0].name, "call");
	symbolizer_close(s);
}

static void cplusplus_is_demangled(void **state)
{
	struct symbolizer_options options = {.demangle = true};
	struct symbolizer *s;
	struct symbol f[1];

	write_text("mangled.cc", "namespace space { struct thing { int call(int, char); }; }\n"
				 "int space::thing::call(int a, char b) { return a + b; }\n");
	run("g++ -O2 -shared -fPIC mangled.cc -o mangled.so");
	s = open_symbolizer(&options);
	assert_int_equal(resolve(s, "mangled.so",
				 offset_of("mangled.so", "_ZN5space5thing4callEic", 0), f, 1),
			 1);
	assert_string_equal(f[0].name, "space::thing::call");
	assert_string_equal(f[0].mangled, "_ZN5space5thing4callEic");
	symbolizer_close(s);
}

/* The section headers of the vDSO stand at its end. */
static size_t vdso_size(const uint8_t *image)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;

	return header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
}

static void vdso_is_named_from_memory(void **state)
{
	const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	struct symbolizer *s = open_symbolizer(&everything);
	unsigned int id, again, named = 0;
	struct symbol f[2];

	if (!image) {
		print_message("this kernel maps no vDSO\n");
		symbolizer_close(s);
		skip();
	}
	assert_int_equal(symbolizer_image(s, image, vdso_size(image), "[vdso]", &id), 0);
	assert_int_equal(symbolizer_image(s, image, vdso_size(image), "[vdso]", &again), 0);
	assert_int_equal(id, again);
	for (uint64_t at = 0; at < vdso_size(image); at += 8)
		named += symbolizer_resolve(s, id, at, f, 2) == 1 && strstr(f[0].name, "time");
	assert_true(named);
	symbolizer_close(s);
}

static void same_file_has_one_number(void **state)
{
	struct symbolizer *s = open_symbolizer(&everything);
	struct symbol_file file = {.path = "one", .build_id_len = 0};
	static const uint8_t id[20] = {1, 2, 3};
	unsigned int a, b, c, d;

	run("rm -f one two three && echo x >one && ln one two && echo x >three");
	assert_int_equal(symbolizer_file(s, &file, &a), 0);
	file.path = "two";
	assert_int_equal(symbolizer_file(s, &file, &b), 0);
	file.path = "three";
	assert_int_equal(symbolizer_file(s, &file, &c), 0);
	assert_true(a == b && a != c);
	file.build_id = id;
	file.build_id_len = sizeof(id);
	assert_int_equal(symbolizer_file(s, &file, &b), 0);
	file.path = "elsewhere";
	assert_int_equal(symbolizer_file(s, &file, &d), 0);
	assert_true(b == d && b != c);
	symbolizer_close(s);
}

/* Whether anything below the current directory was opened since @watch began. */
static bool was_opened(int watch)
{
	char event[4096];

	return read(watch, event, sizeof(event)) > 0;
}

static void fifos_and_devices_are_not_opened(void **state)
{
	struct symbolizer *s = open_symbolizer(&everything);
	int watch = inotify_init1(IN_NONBLOCK);
	struct symbol f[1];

	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_true(watch >= 0 && inotify_add_watch(watch, "fifo", IN_OPEN) >= 0);
	assert_int_equal(resolve(s, "fifo", 0, f, 1), 0);
	assert_false(was_opened(watch));
	assert_int_equal(resolve(s, "/dev/zero", 0, f, 1), 0);
	assert_int_equal(resolve(s, ".", 0, f, 1), 0);
	assert_int_equal(resolve(s, "no such file", 0, f, 1), 0);
	close(watch);
	symbolizer_close(s);
}

static void memory_limit_shuts_files_but_keeps_names_right(void **state)
{
	struct symbolizer_options options = EVERYTHING;
	struct symbolizer_stats stats;
	struct symbolizer *s;
	uint64_t offset;

	options.memory_limit = 300 << 10;
	s = open_symbolizer(&options);
	build_nested("", "nested");
	offset = offset_of("nested", "outer", 0);
	run("for i in 0 1 2 3 4 5 6 7 8 9; do cp nested nested.$i; done");
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 10; i++) {
			char path[32];

			snprintf(path, sizeof(path), "nested.%d", i);
			assert_nested(s, path, offset);
			symbolizer_get_stats(s, &stats);
			assert_true(stats.open < 8);
		}
	symbolizer_close(s);
}

static void descriptors_do_not_run_out(void **state)
{
	struct symbolizer *s = open_symbolizer(&everything);
	struct rlimit limit, few;
	uint64_t offset;
	int named = 0;

	build_nested("-Wl,--build-id=none", "nested");
	offset = offset_of("nested", "outer", 4);
	run("for i in $(seq 100); do cp nested many.$i; done");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit){.rlim_cur = 24, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (int i = 1; i <= 100; i++) {
		struct symbol f[8];
		char path[32];

		snprintf(path, sizeof(path), "many.%d", i);
		named += resolve(s, path, offset, f, 8) == 3;
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(named, 100);
	run("rm -f many.*");
	symbolizer_close(s);
}

static void control_characters_do_not_reach_terminals(void **state)
{
	struct symbolizer *s = open_symbolizer(&names_only);
	struct symbol f[1];

	write_text("colour.S", ".text\n.globl _start\n_start: nop\n"
			       ".type \"a\\033[31mb\", @function\n\"a\\033[31mb\": nop\n"
			       ".size \"a\\033[31mb\", 1\n.section .note.GNU-stack\n");
	if (!runs("gcc -nostdlib -static colour.S -o colour")) {
		print_message("this assembler refuses such names\n");
		symbolizer_close(s);
		skip();
	}
	assert_int_equal(resolve(s, "colour", offset_of("colour", "_start", 1), f, 1), 1);
	assert_null(strchr(f[0].name, '\033'));
	symbolizer_close(s);
}

static void wrong_arguments_are_refused(void **state)
{
	struct symbolizer *s = open_symbolizer(&everything);
	struct symbol f[1];
	unsigned int id = 77;

	assert_int_equal(symbolizer_resolve(s, 0, 0, f, 1), -EINVAL);
	assert_int_equal(symbolizer_file(s, &(struct symbol_file){0}, &id), -EINVAL);
	assert_int_equal(symbolizer_image(s, "ELF", 0, "x", &id), -EINVAL);
	assert_int_equal(symbolizer_image(s, "ELF", 3, "x", &id), -EINVAL);
	assert_int_equal(id, 77);
	symbolizer_close(s);
	symbolizer_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inlined_functions_come_innermost_first),
		cmocka_unit_test(clang_is_understood_too),
		cmocka_unit_test(zstd_compressed_sections_do_not_cost_names),
		cmocka_unit_test(big_endian_files_are_read),
		cmocka_unit_test(aarch64_files_are_read),
		cmocka_unit_test(thirty_two_bit_files_are_read),
		cmocka_unit_test(without_inlines_there_is_one_frame),
		cmocka_unit_test(files_that_dwarf_names_are_not_opened),
		cmocka_unit_test(names_alone_do_not_touch_dwarf),
		cmocka_unit_test(nothing_is_opened_before_it_is_needed),
		cmocka_unit_test(array_that_is_too_short_gets_the_innermost),
		cmocka_unit_test(stripped_file_names_what_it_exports),
		cmocka_unit_test(debug_link_is_followed),
		cmocka_unit_test(debug_link_with_another_checksum_is_refused),
		cmocka_unit_test(debug_directories_are_searched_by_build_id),
		cmocka_unit_test(debug_file_of_another_build_is_refused),
		cmocka_unit_test(replaced_file_is_not_used),
		cmocka_unit_test(replaced_file_is_named_by_its_debug_file),
		cmocka_unit_test(symfs_replaces_the_root),
		cmocka_unit_test(mini_debuginfo_names_static_functions),
		cmocka_unit_test(dwz_supplement_is_followed),
		cmocka_unit_test(range_lists_may_set_a_base),
		cmocka_unit_test(sizeless_symbols_reach_to_the_next_one),
		cmocka_unit_test(global_names_win_over_weak_and_local_ones),
		cmocka_unit_test(versions_do_not_belong_to_names),
		cmocka_unit_test(the_default_version_names_better_than_underscores),
		cmocka_unit_test(names_of_the_c_library_are_not_those_of_its_own_calls),
		cmocka_unit_test(cplusplus_is_demangled),
		cmocka_unit_test(vdso_is_named_from_memory),
		cmocka_unit_test(same_file_has_one_number),
		cmocka_unit_test(fifos_and_devices_are_not_opened),
		cmocka_unit_test(memory_limit_shuts_files_but_keeps_names_right),
		cmocka_unit_test(descriptors_do_not_run_out),
		cmocka_unit_test(control_characters_do_not_reach_terminals),
		cmocka_unit_test(wrong_arguments_are_refused),
	};

	return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
