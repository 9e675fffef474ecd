/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/bobbin-symbol-XXXXXX";

int program_setup(void **state)
{
	return !mkdtemp(directory) || chdir(directory);
}

int program_teardown(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	return chdir("/") || system(command);
}

void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int run_args(const char *format, va_list args)
{
	char command[4096] = "{ ";
	size_t len = strlen(command);

	len += (size_t)vsnprintf(command + len, sizeof(command) - len, format, args);
	assert_true(len < sizeof(command) - 32);
	strcat(command, "\n} >run.log 2>&1");
	return system(command);
}

void run(const char *format, ...)
{
	va_list args;
	int status;

	va_start(args, format);
	status = run_args(format, args);
	va_end(args);
	if (status) {
		print_message("failed: %s\n", format);
		assert_int_equal(system("cat run.log >&2"), 0);
	}
	assert_int_equal(status, 0);
}

bool runs(const char *format, ...)
{
	va_list args;
	int status;

	va_start(args, format);
	status = run_args(format, args);
	va_end(args);
	return !status;
}

void output_of(char *dst, size_t size, const char *format, ...)
{
	char command[4096];
	va_list args;
	FILE *f;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	f = popen(command, "r");
	assert_non_null(f);
	dst[0] = '\0';
	if (fgets(dst, (int)size, f))
		dst[strcspn(dst, "\n")] = '\0';
	pclose(f);
}

uint64_t offset_of_address(const char *path, uint64_t address)
{
	char line[256], *end;
	uint64_t offset, start;

	output_of(line, sizeof(line),
		  "readelf -lW '%s' | awk '$1 == \"LOAD\" && / E / { print $2, $3; exit }'", path);
	offset = strtoull(line, &end, 16);
	start = strtoull(end, NULL, 16);
	assert_true(line[0] && address >= start);
	return address - start + offset;
}

uint64_t offset_of(const char *path, const char *function, uint64_t more)
{
	char line[256];

	output_of(line, sizeof(line), "nm '%s' | awk '$3 == \"%s\" { print $1; exit }'", path,
		  function);
	assert_true(line[0]);
	return offset_of_address(path, strtoull(line, NULL, 16)) + more;
}

uint8_t *read_bytes(const char *path, size_t *size)
{
	FILE *f = fopen(path, "r");
	uint8_t *bytes;

	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	*size = (size_t)ftell(f);
	rewind(f);
	bytes = malloc(*size);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *size, f), *size);
	fclose(f);
	return bytes;
}

size_t build_id_of(const char *path, char digits[129], uint8_t bytes[64])
{
	size_t len;

	output_of(digits, 129, "readelf -n '%s' | awk '/Build ID:/ { print $3 }'", path);
	len = strlen(digits) / 2;
	for (size_t i = 0; i < len; i++) {
		char pair[3] = {digits[2 * i], digits[2 * i + 1], '\0'};

		bytes[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return len;
}

struct symbolizer *open_symbolizer(const struct symbolizer_options *options)
{
	struct symbolizer *s;

	assert_int_equal(symbolizer_open(options, &s), 0);
	return s;
}

int resolve(struct symbolizer *s, const char *path, uint64_t offset, struct symbol *ret, size_t max)
{
	unsigned int id;

	assert_int_equal(symbolizer_file(s, &(struct symbol_file){.path = path}, &id), 0);
	return symbolizer_resolve(s, id, offset, ret, max);
}

void assert_name_at(struct symbolizer *s, const char *path, uint64_t offset, const char *name)
{
	struct symbol f[4];
	int n = resolve(s, path, offset, f, 4);

	if (!name) {
		assert_int_equal(n, 0);
		return;
	}
	assert_int_equal(n, 1);
	assert_string_equal(f[0].name, name);
}

uint64_t offset_of_export(const char *path, const char *name)
{
	char address[64];

	output_of(address, sizeof(address), "nm -D '%s' | awk '$3 == \"%s\" { print $1 }'", path,
		  name);
	return offset_of_address(path, strtoull(address, NULL, 16));
}
