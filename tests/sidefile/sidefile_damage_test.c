/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Side-files that are damaged, cut off or malicious.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/bytes.h"
#include "sidefile/block_codec.h"
#include "sidefile/sidefile_format.h"
#include "sidefile_samples.h"

#define SAMPLE_PCS 4000

static bool same_or_refused(const struct bobbin_sframe_view *view, struct sidefile *sidefile,
			    uint64_t pc)
{
	struct bobbin_row row, other;
	struct bobbin_error error = {0};
	int r = bobbin_sframe_lookup(view, pc, NULL, &row);
	int s = sidefile_lookup(sidefile, pc, &error, &other);

	if (s == -EBADMSG)
		return error.reason != BOBBIN_REASON_NONE;
	return s == r && (r || (bobbin_rule_equal(&row.rule, &other.rule) &&
				row.start >= other.start && row.end <= other.end));
}

static void no_flipped_bit_changes_a_rule(void **state)
{
	struct sample section = sample_section(bobbin_arch_amd64(), 20);
	struct bobbin_sframe_view view = sample_view(&section);
	struct sample file = sample_sidefile(&section);
	unsigned int opened = 0;

	for (uint64_t bit = 0; bit < 8 * file.size; bit++) {
		struct bobbin_error error = {0};
		struct sidefile *sidefile;
		int r;

		file.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		r = sample_open(file.bytes, file.size, &error, &sidefile);
		file.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (r) {
			assert_int_equal(r, -EBADMSG);
			assert_int_not_equal(error.reason, BOBBIN_REASON_NONE);
			continue;
		}
		opened++;
		for (uint64_t pc = SAMPLE_START; pc < SAMPLE_START + SAMPLE_PCS; pc += 3)
			assert_true(same_or_refused(&view, sidefile, pc));
		sidefile_close(sidefile);
	}
	/* the head does not depend on the damaged block */
	assert_true(opened > 100 && opened < 8 * file.size - 100);
	sample_free(&file);
	sample_free(&section);
}

static void a_file_that_is_cut_off_or_too_long_is_refused(void **state)
{
	struct sample section = sample_section(bobbin_arch_amd64(), 20);
	struct sample file = sample_sidefile(&section);
	uint8_t *longer = calloc(file.size + 1, 1);
	struct bobbin_error error;
	struct sidefile *sidefile;

	for (uint64_t size = 0; size < file.size; size++) {
		assert_int_equal(sample_open(file.bytes, size, &error, &sidefile), -EBADMSG);
		assert_int_not_equal(error.reason, BOBBIN_REASON_NONE);
	}
	assert_non_null(longer);
	memcpy(longer, file.bytes, file.size);
	assert_int_equal(sample_open(longer, file.size + 1, &error, &sidefile), -EBADMSG);
	assert_int_equal(error.reason, BOBBIN_REASON_SIDEFILE_HEAD);
	free(longer);
	sample_free(&file);
	sample_free(&section);
}

static void only_side_files_are_taken_for_side_files(void **state)
{
	struct sample section = sample_section(bobbin_arch_amd64(), 20);
	struct sample file = sample_sidefile(&section);
	struct bobbin_error error;
	struct sidefile *sidefile;

	assert_int_equal(sample_open(section.bytes, section.size, &error, &sidefile), -EBADMSG);
	assert_int_equal(error.reason, BOBBIN_REASON_SIDEFILE_MAGIC);
	file.bytes[16]++;
	assert_int_equal(sample_open(file.bytes, file.size, &error, &sidefile), -EBADMSG);
	assert_int_equal(error.reason, BOBBIN_REASON_SIDEFILE_VERSION);
	sample_free(&file);
	sample_free(&section);
}

/* A head with two rules, of which the first is none, and one block of @size bytes. */
static void write_head(uint32_t size, struct byte_buffer *head)
{
	struct sidefile_block index = {.first = SAMPLE_START, .size = size};
	struct sidefile_head made = {.arch = bobbin_arch_amd64(),
				     .blocks = &index,
				     .block_count = 1,
				     .end = SAMPLE_START + 100};
	const struct bobbin_rule none = bobbin_rule_none(BOBBIN_REASON_ZERO_RA);
	uint8_t words[17] = {0};
	uint64_t word;

	assert_int_equal(bobbin_rule_pack(&none, &word), 0);
	bytes_store(words + 8, word, 8, false);
	byte_buffer_put(&made.parts, words, sizeof(words));
	sidefile_head_rules(&made, 2, 0);
	sidefile_head_write(&made, head);
	byte_buffer_fini(&made.parts);
}

/* A file of two frames with any contents, and one block in the index. */
static int open_made(struct byte_buffer *head, const void *block, size_t block_size,
		     struct bobbin_error *err, struct sidefile **ret)
{
	struct byte_buffer file = {0}, frame = {0}, last = {0};
	ZSTD_CCtx *compressor = zstd_frame_compressor();
	int r;

	assert_non_null(compressor);
	assert_int_equal(zstd_frame_put(compressor, block, block_size, &last), 0);
	if (!head->size)
		write_head((uint32_t)last.size, head);
	assert_int_equal(zstd_frame_put(compressor, head->data, head->size, &frame), 0);
	byte_buffer_u32(&file, SIDEFILE_SKIPPABLE_MAGIC);
	byte_buffer_u32(&file, SIDEFILE_PREAMBLE_SIZE - 8);
	byte_buffer_put(&file, SIDEFILE_MAGIC, SIDEFILE_MAGIC_SIZE);
	byte_buffer_u32(&file, SIDEFILE_VERSION);
	byte_buffer_u32(&file, (uint32_t)frame.size);
	byte_buffer_put(&file, frame.data, frame.size);
	byte_buffer_put(&file, last.data, last.size);
	r = sample_open(file.data, file.size, err, ret);
	byte_buffer_fini(&file);
	byte_buffer_fini(&frame);
	byte_buffer_fini(&last);
	byte_buffer_fini(head);
	ZSTD_freeCCtx(compressor);
	return r;
}

static enum bobbin_reason why_block_refused(const void *block, size_t size)
{
	struct byte_buffer head = {0};
	struct bobbin_error error = {0};
	struct sidefile *sidefile;
	struct bobbin_row row;

	assert_int_equal(open_made(&head, block, size, &error, &sidefile), 0);
	assert_int_equal(sidefile_lookup(sidefile, SAMPLE_START, &error, &row), -EBADMSG);
	sidefile_close(sidefile);
	return error.reason;
}

static enum bobbin_reason why_head_refused(struct byte_buffer *head)
{
	struct bobbin_error error = {0};
	struct sidefile *sidefile;

	assert_int_equal(open_made(head, "", 0, &error, &sidefile), -EBADMSG);
	return error.reason;
}

static void frames_that_unfold_too_far_are_refused(void **state)
{
	uint8_t *zeros = calloc(SIDEFILE_MAX_HEAD + 1, 1);
	struct byte_buffer head = {0};

	assert_non_null(zeros);
	byte_buffer_put(&head, zeros, SIDEFILE_MAX_HEAD + 1);
	assert_int_equal(why_head_refused(&head), BOBBIN_REASON_SIDEFILE_LIMIT);
	assert_int_equal(why_block_refused(zeros, SIDEFILE_MAX_BLOCK + 1),
			 BOBBIN_REASON_SIDEFILE_LIMIT);
	assert_int_equal(why_block_refused(zeros, SIDEFILE_MAX_BLOCK),
			 BOBBIN_REASON_SIDEFILE_BLOCK);
	free(zeros);
}

static void malformed_blocks_are_refused(void **state)
{
	/* rows, bytes since the function's start, bytes of two columns, the columns */
	static const struct {
		uint8_t bytes[16], size;
	} blocks[] = {
		{{0, 0, 0, 0}, 4},                               /* no row */
		{{0x81, 0x10, 0, 1, 0, 1}, 6},                   /* too many rows */
		{{2, 0, 2, 1, 1, 2, 9}, 7},                      /* a rule that there is not */
		{{2, 0, 2, 1, 1, 1, 0}, 7},                      /* a row of no length */
		{{2, 0, 2, 1, 1, 1, 100}, 7},                    /* a row after the end */
		{{2, 0, 2, 0, 0, 1, 1}, 7},                      /* a row that goes back */
		{{2, 0, 2, 1, 1, 1, 9, 0}, 8},                   /* a gap too many */
		{{2, 0, 3, 1, 1, 1, 1, 9}, 8},                   /* a rule too many */
		{{2, 0, 2, 2, 1, 1, 9, 9}, 8},                   /* a length too many */
		{{2, 0, 9, 1, 1, 1, 9}, 7},                      /* a column that ends elsewhere */
		{{1, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 0, 1}, 9}, /* a function before 0 */
	};
	static const uint8_t sound[] = {2, 0, 2, 1, 1, 1, 9};
	struct byte_buffer head = {0};
	struct bobbin_error error;
	struct sidefile *sidefile;
	struct bobbin_row row;

	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++)
		assert_int_equal(why_block_refused(blocks[i].bytes, blocks[i].size),
				 BOBBIN_REASON_SIDEFILE_BLOCK);
	assert_int_equal(open_made(&head, sound, sizeof(sound), &error, &sidefile), 0);
	assert_int_equal(sidefile_lookup(sidefile, SAMPLE_START + 9, &error, &row), 0);
	assert_int_equal(row.start, SAMPLE_START + 9);
	assert_int_equal(row.end, SAMPLE_START + 100);
	assert_int_equal(row.rule.reason, BOBBIN_REASON_ZERO_RA);
	sidefile_close(sidefile);
}

static void put_head(struct byte_buffer *head, const char *bytes, size_t size)
{
	byte_buffer_put(head, bytes, size);
}

#define PUT_HEAD(head, bytes) put_head(head, bytes, sizeof(bytes) - 1)

static void malformed_heads_are_refused(void **state)
{
	struct byte_buffer head = {0};

	/* machine, byte order, build ID, words, wide rules, rules, blocks, last block's bytes */
	PUT_HEAD(&head, "\7\0\0\0\0\0\0");
	assert_int_equal(why_head_refused(&head), BOBBIN_REASON_ELF_MACHINE);
	PUT_HEAD(&head, "\76\2\0\0\0\0\0");
	assert_int_equal(why_head_refused(&head), BOBBIN_REASON_SIDEFILE_HEAD);
	PUT_HEAD(&head, "\76\0\25\0\0\0\0");
	assert_int_equal(why_head_refused(&head), BOBBIN_REASON_SIDEFILE_HEAD);
	PUT_HEAD(&head, "\76\0\0\144\0\0\0");
	assert_int_equal(why_head_refused(&head), BOBBIN_REASON_SIDEFILE_HEAD);
	PUT_HEAD(&head, "\76\0\0\0\144\0\0");
	assert_int_equal(why_head_refused(&head), BOBBIN_REASON_SIDEFILE_HEAD);
	PUT_HEAD(&head, "\76\0\0\0\0\144\0");
	assert_int_equal(why_head_refused(&head), BOBBIN_REASON_SIDEFILE_HEAD);
	PUT_HEAD(&head, "\76\0\0\0\0\1\0\144\1");
	assert_int_equal(why_head_refused(&head), BOBBIN_REASON_SIDEFILE_HEAD);
	/* a block without a frame, and one that is smaller than any frame */
	PUT_HEAD(&head, "\76\0\0\0\0\2\1\0\1\15\1");
	assert_int_equal(why_head_refused(&head), BOBBIN_REASON_SIDEFILE_HEAD);
	PUT_HEAD(&head, "\76\0\0\0\0\2\1\14\1\1\1");
	assert_int_equal(why_head_refused(&head), BOBBIN_REASON_SIDEFILE_HEAD);
	/* a block without an address */
	PUT_HEAD(&head, "\76\0\0\0\0\1\0\15\0");
	assert_int_equal(why_head_refused(&head), BOBBIN_REASON_SIDEFILE_HEAD);
	PUT_HEAD(&head, "\76\0\0\0\0\0");
	assert_int_equal(why_head_refused(&head), BOBBIN_REASON_SIDEFILE_HEAD);
}

/* The head of blocks without frames: few bytes of a file that unfold to many. */
static void blocks_need_bytes_in_the_file(void **state)
{
	const uint64_t count = SIDEFILE_MAX_HEAD / 4;
	struct byte_buffer head = {0};
	struct bobbin_error error = {0};
	struct sidefile_head read;

	put_head(&head, "\76\0\0\0\0", 5);
	byte_buffer_uleb(&head, count);
	for (uint64_t i = 0; i < count; i++)
		put_head(&head, "\1", 2);
	put_head(&head, "\1", 1);
	assert_false(head.failed);
	assert_int_equal(sidefile_head_read(&head, 1400, 1400, &error, &read), -EBADMSG);
	assert_int_equal(error.reason, BOBBIN_REASON_SIDEFILE_HEAD);
	/* by their number, before there is memory for them */
	assert_int_equal(error.offset, 9);
	byte_buffer_fini(&head);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_flipped_bit_changes_a_rule),
		cmocka_unit_test(a_file_that_is_cut_off_or_too_long_is_refused),
		cmocka_unit_test(only_side_files_are_taken_for_side_files),
		cmocka_unit_test(frames_that_unfold_too_far_are_refused),
		cmocka_unit_test(malformed_blocks_are_refused),
		cmocka_unit_test(malformed_heads_are_refused),
		cmocka_unit_test(blocks_need_bytes_in_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
