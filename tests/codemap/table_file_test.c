/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables that are parts of files, as they are or compressed. */
#include "code_samples.h"

#include <errno.h>
#include <fcntl.h>
#include <zstd.h>

#include "codemap/registry.h"
#include "table/compiled_table.h"
#include "table/table_builder.h"

#define OFFSET 100
#define FILE_ADDR 0x10000u /* the address for which the file's section is made */

struct world {
	struct registry *registry;
	struct sample s;
	struct code_elf_info info;
	uint8_t bytes[SAMPLE_ROOM];
	int fd;
};

static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("table", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, size, OFFSET), size);
	return fd;
}

/* A section that is made for another address than where it is read to. */
static struct world open_world(unsigned int flags)
{
	struct world w = {.s = sample_open(3)};
	uint8_t section[SAMPLE_ROOM];
	size_t size = make_section(section, (uintptr_t)w.s.text - FILE_ADDR, (uintptr_t)w.s.text,
				   w.s.page, 3);

	assert_int_equal(registry_open(NULL, &w.registry), 0);
	if (flags & CODE_TABLE_ZSTD)
		size = ZSTD_compress(w.bytes, sizeof(w.bytes), section, size, 3);
	else
		memcpy(w.bytes, section, size);
	assert_false(ZSTD_isError(size));
	w.fd = file_of(w.bytes, size);
	w.info = (struct code_elf_info){.text_start = (uintptr_t)w.s.text,
					.text_end = text_end(&w.s),
					.table_flags = CODE_TABLE_FILE | flags,
					.table_fd = w.fd,
					.table_offset = OFFSET,
					.table_size = size,
					.table_addr = (uintptr_t)w.s.text - FILE_ADDR};
	return w;
}

static void close_world(struct world *w)
{
	registry_close(w->registry);
	close(w->fd);
	sample_close(&w->s);
}

static int call(struct world *w, unsigned int option, struct bobbin_code_result *ret)
{
	return code_calls_codectl(w->registry, option, &w->info, sizeof(w->info), 0, ret);
}

static void check_round_trip(unsigned int flags)
{
	struct world w = open_world(flags);
	const struct code *code;
	struct bobbin_row row;

	assert_int_equal(call(&w, CODE_REGISTER_ELF, NULL), 0);
	code = code_map_find(registry_map(w.registry), w.info.text_start, NULL);
	assert_non_null(code);
	assert_int_equal(code->kind, CODE_SECTION);
	/* in memory of the library, which needs the file no more */
	assert_int_equal(ftruncate(w.fd, 0), 0);
	assert_int_equal(
		bobbin_sframe_lookup(&code->sframe, w.info.text_start + w.s.page + 1, NULL, &row),
		0);
	assert_int_equal(row.start, w.info.text_start + w.s.page);
	assert_int_equal(code->sframe.addr, w.info.table_addr);
	assert_int_equal(call(&w, CODE_REGISTER_ELF, NULL), -EINVAL); /* the file is empty */
	assert_int_equal(call(&w, CODE_UNREGISTER, NULL), 0);
	assert_int_equal(call(&w, CODE_UNREGISTER, NULL), -ENOENT);
	close_world(&w);
}

static void a_table_in_a_file_is_read(void **state)
{
	(void)state;
	check_round_trip(0);
}

static void a_compressed_table_is_decompressed(void **state)
{
	(void)state;
	check_round_trip(CODE_TABLE_ZSTD);
}

static const uint8_t build_id[] = {1, 2, 3, 4, 5};

/* A row for the first page, in a compiled table whose file has the text at FILE_ADDR. */
static struct world open_compiled(unsigned int flags)
{
	const struct bobbin_rule rule = {
		.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = native_arch()->sp, .off = 16},
		.ra = {.how = BOBBIN_HOW_UNDEFINED},
		.fp = {.how = BOBBIN_HOW_SAME},
		.index = BOBBIN_NO_INDEX,
	};
	struct world w = open_world(0);
	struct table_builder builder;
	uint64_t size;
	uint8_t *data;

	close(w.fd);
	assert_int_equal(table_builder_init(native_arch(), build_id, sizeof(build_id), &builder),
			 0);
	assert_int_equal(table_builder_begin(&builder, FILE_ADDR), 0);
	assert_int_equal(table_builder_rule(&builder, FILE_ADDR, &rule), 0);
	assert_int_equal(table_builder_end(&builder, FILE_ADDR + w.s.page), 0);
	assert_int_equal(table_builder_make(&builder, &data, &size), 0);
	table_builder_fini(&builder);
	assert_in_range(size, 1, sizeof(w.bytes));
	if (flags & CODE_TABLE_ZSTD)
		size = ZSTD_compress(w.bytes, sizeof(w.bytes), data, size, 3);
	else
		memcpy(w.bytes, data, size);
	free(data);
	w.fd = w.info.table_fd = file_of(w.bytes, size);
	w.info.table_size = size;
	w.info.table_flags = CODE_TABLE_FILE | CODE_TABLE_COMPILED | flags;
	w.info.table_addr = (uintptr_t)w.s.text - FILE_ADDR;
	w.info.build_id = (uintptr_t)build_id;
	w.info.build_id_len = sizeof(build_id);
	return w;
}

static void check_compiled_round_trip(unsigned int flags)
{
	struct world w = open_compiled(flags);
	const struct code *code;
	struct compiled_row row;

	assert_int_equal(call(&w, CODE_REGISTER_ELF, NULL), 0);
	code = code_map_find(registry_map(w.registry), w.info.text_start, NULL);
	assert_non_null(code);
	assert_int_equal(code->kind, CODE_COMPILED);
	assert_int_equal(code->compiled.bias, w.info.table_addr);
	/* in memory of the library, which needs the file no more */
	assert_int_equal(ftruncate(w.fd, 0), 0);
	assert_int_equal(compiled_table_find(&code->compiled.table, FILE_ADDR + 5, &row), 0);
	assert_int_equal(row.start, FILE_ADDR);
	assert_int_equal(call(&w, CODE_UNREGISTER, NULL), 0);
	assert_int_equal(call(&w, CODE_UNREGISTER, NULL), -ENOENT);
	close_world(&w);
}

static void a_compiled_table_is_read(void **state)
{
	(void)state;
	check_compiled_round_trip(0);
	check_compiled_round_trip(CODE_TABLE_ZSTD);
}

static void assert_refused(struct world *w, enum bobbin_reason reason)
{
	struct bobbin_code_result result = {0};

	assert_int_equal(call(w, CODE_REGISTER_ELF, &result), -EBADMSG);
	assert_int_equal(result.error.reason, reason);
}

static void compiled_tables_of_other_code_are_refused(void **state)
{
	struct world w = open_compiled(0);
	const uint8_t other[] = {1, 2, 3, 4, 6};

	(void)state;
	w.info.build_id = (uintptr_t)other;
	assert_refused(&w, BOBBIN_REASON_TABLE_OTHER);
	w.info.build_id_len = 4;
	w.info.build_id = (uintptr_t)build_id;
	assert_refused(&w, BOBBIN_REASON_TABLE_OTHER);
	w.info.build_id = w.info.build_id_len = 0;
	w.info.table_addr += 64 * w.s.page;
	assert_refused(&w, BOBBIN_REASON_TABLE_OTHER);
	w.info.table_addr = 0;
	assert_refused(&w, BOBBIN_REASON_TABLE_OTHER);
	w.info.table_addr = (uintptr_t)w.s.text - FILE_ADDR;
	assert_int_equal(call(&w, CODE_REGISTER_ELF, NULL), 0);
	close_world(&w);
}

static void damaged_heads_of_compiled_tables_are_refused(void **state)
{
	struct world w = open_compiled(0);
	const uint8_t foreign[] = {0xf3, 0}; /* RISC-V */

	(void)state;
	w.info.table_size--;
	assert_refused(&w, BOBBIN_REASON_TABLE_HEAD);
	w.info.table_size = 100;
	assert_refused(&w, BOBBIN_REASON_TABLE_MAGIC);
	w.info.table_size = 512;
	w.info.table_offset--;
	assert_refused(&w, BOBBIN_REASON_TABLE_MAGIC);
	w.info.table_offset++;
	assert_int_equal(pwrite(w.fd, foreign, 2, OFFSET + TABLE_AT_MACHINE), 2);
	assert_refused(&w, BOBBIN_REASON_TABLE_HEAD);
	close_world(&w);
}

static void places_that_are_not_in_a_regular_file_are_refused(void **state)
{
	struct world w = open_world(0);
	int ends[2];

	(void)state;
	w.info.table_size++;
	assert_int_equal(call(&w, CODE_REGISTER_ELF, NULL), -EINVAL);
	w.info.table_size = UINT64_MAX;
	assert_int_equal(call(&w, CODE_REGISTER_ELF, NULL), -EINVAL);
	w.info.table_size = 10;
	w.info.table_offset = UINT64_MAX - 5;
	assert_int_equal(call(&w, CODE_REGISTER_ELF, NULL), -EINVAL);
	w.info.table_offset = 0;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	w.info.table_fd = ends[0];
	assert_int_equal(call(&w, CODE_REGISTER_ELF, NULL), -EINVAL);
	close(ends[0]);
	close(ends[1]);
	w.info.table_fd = open("/", O_RDONLY | O_CLOEXEC);
	assert_int_equal(call(&w, CODE_REGISTER_ELF, NULL), -EINVAL);
	close(w.info.table_fd);
	w.info.table_fd = INT32_MAX;
	assert_int_equal(call(&w, CODE_REGISTER_ELF, NULL), -EBADF);
	close_world(&w);
}

static void a_descriptor_must_be_for_reading(void **state)
{
	struct world w = open_world(0);
	char path[] = "/tmp/table-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, w.bytes, 500), 500);
	close(fd);
	w.info.table_fd = open(path, O_WRONLY | O_CLOEXEC);
	unlink(path);
	w.info.table_offset = 0;
	w.info.table_size = 200;
	assert_int_equal(call(&w, CODE_REGISTER_ELF, NULL), -EBADF);
	close(w.info.table_fd);
	close_world(&w);
}

static void tables_of_absurd_size_are_refused(void **state)
{
	struct world w = open_world(0);
	/* a frame that claims to have a TiB: single segment, 8 bytes of content size */
	const uint8_t frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0};

	(void)state;
	assert_int_equal(ftruncate(w.fd, (off_t)1 << 40), 0);
	w.info.table_size = ((uint64_t)256 << 20) + 1;
	assert_int_equal(call(&w, CODE_REGISTER_ELF, NULL), -EFBIG);
	close(w.fd);
	w.fd = w.info.table_fd = file_of(frame, sizeof(frame));
	w.info.table_size = sizeof(frame);
	w.info.table_flags |= CODE_TABLE_ZSTD;
	assert_int_equal(call(&w, CODE_REGISTER_ELF, NULL), -EFBIG);
	close_world(&w);
}

static void damaged_frames_are_refused(void **state)
{
	struct world w = open_world(CODE_TABLE_ZSTD);
	struct bobbin_code_result result = {0};
	uint8_t byte;

	(void)state;
	for (uint64_t i = 0; i < 4; i++) {
		byte = w.bytes[i] ^ 0xff;
		assert_int_equal(pwrite(w.fd, &byte, 1, (off_t)(OFFSET + i)), 1);
		assert_int_equal(call(&w, CODE_REGISTER_ELF, &result), -EBADMSG);
		assert_int_equal(result.error.reason, BOBBIN_REASON_SIDEFILE_FRAME);
		assert_int_equal(pwrite(w.fd, &w.bytes[i], 1, (off_t)(OFFSET + i)), 1);
	}
	w.info.table_size--;
	assert_int_equal(call(&w, CODE_REGISTER_ELF, &result), -EBADMSG);
	w.info.table_size++;
	assert_int_equal(call(&w, CODE_REGISTER_ELF, &result), 0);
	close_world(&w);
}

static void damaged_sections_are_refused(void **state)
{
	struct world w = open_world(0);
	struct bobbin_code_result result = {0};

	(void)state;
	w.info.table_offset--;
	assert_int_equal(call(&w, CODE_REGISTER_ELF, &result), -EBADMSG);
	assert_int_equal(result.error.reason, BOBBIN_REASON_SFRAME_MAGIC);
	w.info.table_offset++;
	w.info.table_addr += 1;
	assert_int_equal(call(&w, CODE_REGISTER_ELF, &result), -EBADMSG);
	assert_int_equal(result.error.reason, BOBBIN_REASON_SFRAME_TEXT);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_in_a_file_is_read),
		cmocka_unit_test(a_compressed_table_is_decompressed),
		cmocka_unit_test(a_compiled_table_is_read),
		cmocka_unit_test(compiled_tables_of_other_code_are_refused),
		cmocka_unit_test(damaged_heads_of_compiled_tables_are_refused),
		cmocka_unit_test(places_that_are_not_in_a_regular_file_are_refused),
		cmocka_unit_test(a_descriptor_must_be_for_reading),
		cmocka_unit_test(tables_of_absurd_size_are_refused),
		cmocka_unit_test(damaged_frames_are_refused),
		cmocka_unit_test(damaged_sections_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
