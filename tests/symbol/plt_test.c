/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* PLT stubs have the names that objdump gives them. */
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct symbolizer_options plain = {0};

static const char source[] = "extern int alpha(int), beta(int), gamma_(int);\n"
			     "int (*volatile pointer)(int) = 0;\n"
			     "int caller(int x) { pointer = beta; return alpha(x) + beta(x) + "
			     "gamma_(x) + pointer(1); }\n";

/* Compare each "ADDRESS <name@plt>:" of objdump; returns how many there were. */
static int compare(const char *objdump, const char *path)
{
	struct symbolizer *s = open_symbolizer(&plain);
	char command[256], line[256];
	int compared = 0;
	FILE *f;

	snprintf(command, sizeof(command),
		 "%s -d %s | sed -n 's/^\\([0-9a-f]*\\) <\\(.*@plt\\)>:$/\\1 \\2/p'", objdump,
		 path);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *name;
		uint64_t address = strtoull(line, &name, 16);
		struct symbol found[2];

		line[strcspn(line, "\n")] = '\0';
		for (uint64_t more = 0; more < 8; more++) {
			assert_int_equal(
				resolve(s, path, offset_of_address(path, address) + more, found, 2),
				1);
			assert_string_equal(found[0].name, name + 1);
			assert_int_equal(found[0].start, address);
		}
		compared++;
	}
	pclose(f);
	symbolizer_close(s);
	return compared;
}

static void stubs_of_x86_64_are_named(void **state)
{
	static const char *const options[] = {
		"",
		"-Wl,-z,now",
		"-Wl,-z,lazy",
		"-fcf-protection=full -Wl,-z,ibtplt",
		"-fcf-protection=full -Wl,-z,ibtplt,-z,now",
		"-fno-plt",
	};

	write_text("plt.c", source);
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		int n;

		print_message("%s\n", options[i]);
		run("gcc -O2 -shared -fPIC %s plt.c -o plt.so", options[i]);
		n = compare("objdump", "plt.so");
		assert_true(strcmp(options[i], "-fno-plt") ? n >= 3 : n >= 0);
	}
}

/* A lazy PLT with landing pads has two stubs for a function, one without a GOT slot. */
static void lazy_stubs_with_landing_pads_are_named(void **state)
{
	struct symbolizer *s = open_symbolizer(&plain);
	char line[64];
	struct symbol f[1];
	uint64_t start;
	int named = 0;

	write_text("lazy.c", "extern int alpha(int), beta(int);\n"
			     "int caller(int x) { return alpha(x) + beta(x); }\n");
	run("gcc -O2 -shared -fPIC -nostdlib -fcf-protection=full -Wl,-z,ibtplt,-z,lazy lazy.c "
	    "-o ibt.so");
	output_of(line, sizeof(line),
		  "readelf -SW ibt.so | sed 's/.*\\] //' | awk '$1 == \".plt\" { print $3 }'");
	start = strtoull(line, NULL, 16);
	assert_true(start);
	assert_int_equal(resolve(s, "ibt.so", offset_of_address("ibt.so", start), f, 1), 0);
	for (uint64_t at = start + 16; at < start + 48; at += 16) {
		assert_int_equal(resolve(s, "ibt.so", offset_of_address("ibt.so", at), f, 1), 1);
		named += !strcmp(f[0].name, at == start + 16 ? "alpha@plt" : "beta@plt") ||
			 !strcmp(f[0].name, at == start + 16 ? "beta@plt" : "alpha@plt");
	}
	assert_int_equal(named, 2);
	symbolizer_close(s);
}

/* Turn each "endbr64; jmp *slot(%rip)" into "endbr64; bnd jmp *slot(%rip)"; how many. */
static int add_bound_prefixes(uint8_t *bytes, size_t size)
{
	static const uint8_t jump[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25};
	int changed = 0;

	for (size_t i = 0; i + 16 <= size; i++) {
		uint32_t distance;

		if (memcmp(bytes + i, jump, sizeof(jump)))
			continue;
		memcpy(&distance, bytes + i + 6, 4);
		distance--; /* counted from the end, which moves */
		memcpy(bytes + i + 4, "\xf2\xff\x25", 3);
		memcpy(bytes + i + 7, &distance, 4);
		changed++;
	}
	return changed;
}

/* Linkers before binutils 2.40 made them so. */
static void stubs_with_a_bound_prefix_are_named(void **state)
{
	uint8_t *bytes;
	size_t size;
	FILE *f;

	write_text("plt.c", source);
	run("gcc -O2 -shared -fPIC -nostdlib -fcf-protection=full -Wl,-z,ibtplt,-z,lazy plt.c "
	    "-o plain.so");
	bytes = read_bytes("plain.so", &size);
	assert_int_equal(add_bound_prefixes(bytes, size), 3);
	f = fopen("bound.so", "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
	free(bytes);
	assert_true(compare("objdump", "bound.so") >= 2);
}

static void stubs_of_aarch64_are_named(void **state)
{
	write_text("plt.c", source);
	if (!runs("aarch64-linux-gnu-gcc -O2 -shared -fPIC -nostdlib plt.c -o arm.so")) {
		print_message("aarch64-linux-gnu-gcc is not installed\n");
		skip();
	}
	assert_int_equal(compare("aarch64-linux-gnu-objdump", "arm.so"), 3);
	run("aarch64-linux-gnu-gcc -O2 -shared -fPIC -nostdlib -mbranch-protection=standard "
	    "-Wl,-z,force-bti plt.c -o bti.so");
	assert_int_equal(compare("aarch64-linux-gnu-objdump", "bti.so"), 3);
}

/* IFUNCs without a dynamic symbol go by their resolver. */
static void stubs_of_local_ifuncs_are_named(void **state)
{
	struct symbolizer *s = open_symbolizer(&plain);
	struct symbol f[1];
	char line[64];

	write_text("ifunc.c", "static int real(int x) { return x; }\n"
			      "static void *choose(void) { return real; }\n"
			      "static int chosen(int) __attribute__((ifunc(\"choose\")));\n"
			      "int caller(int x) { return chosen(x) + 1; }\n");
	run("gcc -O2 -shared -fPIC ifunc.c -o ifunc.so");
	output_of(line, sizeof(line),
		  "objdump -d ifunc.so | sed -n 's/^\\([0-9a-f]*\\) <.ABS.*@plt>:$/\\1/p'");
	assert_true(line[0]);
	assert_int_equal(resolve(s, "ifunc.so",
				 offset_of_address("ifunc.so", strtoull(line, NULL, 16)), f, 1),
			 1);
	assert_non_null(strstr(f[0].name, "@plt"));
	assert_true(!strncmp(f[0].name, "choose", 6) || !strncmp(f[0].name, "chosen", 6));
	symbolizer_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stubs_of_x86_64_are_named),
		cmocka_unit_test(lazy_stubs_with_landing_pads_are_named),
		cmocka_unit_test(stubs_with_a_bound_prefix_are_named),
		cmocka_unit_test(stubs_of_aarch64_are_named),
		cmocka_unit_test(stubs_of_local_ifuncs_are_named),
	};

	return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
