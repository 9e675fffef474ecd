/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Side-files of any bytes that are an SFrame section, and what becomes of them
 * when their insides change.
 *
 *	section | EDITS times: u16 place, u8 change | u8 what to do
 *
 * Frames have checksums that no fuzzer guesses, so the edits are made to what is
 * in a frame.  Contract: what is packed answers as the section does; what was
 * edited is refused with a reason, or is a sound section.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../tests/sframe/sframe_contract.h"
#include "convert/function_rows.h"
#include "sidefile/block_codec.h"
#include "sidefile/sidefile.h"
#include "sidefile/sidefile_writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ADDRESS 0x400000
#define EDITS 8
#define TRAILER (3 * EDITS + 1)
/* Bounds on the work, so that sweeps stay fast. */
#define MAX_FDES 200
#define MAX_FRES 4000

static void same_answer(const struct bobbin_sframe_view *view, struct sidefile *sidefile,
			uint64_t pc)
{
	struct bobbin_row row, packed;
	int r = bobbin_sframe_lookup(view, pc, NULL, &row);

	/* rows after the end of a function are refused there and left out here */
	if (r && r != -ENOENT)
		return;
	promise(sidefile_lookup(sidefile, pc, NULL, &packed) == r);
	if (r)
		return;
	promise(bobbin_rule_equal(&row.rule, &packed.rule));
	promise(row.start == packed.start && row.end == packed.end &&
		row.function == packed.function);
}

/*
 * Functions with code, one after the other and none below address 0: lookups
 * have no choice.
 */
static bool plain(const struct bobbin_sframe_view *view)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < view->num_fdes; i++) {
		struct bobbin_sframe_fde fde;

		if (bobbin_sframe_fde(view, i, NULL, &fde) || !fde.size || fde.start < end ||
		    fde.start > INT64_MAX)
			return false;
		end = fde.start + fde.size;
	}
	return true;
}

static void same_answers(const struct bobbin_sframe_view *view, struct sidefile *sidefile)
{
	for (uint32_t i = 0; i < view->num_fdes; i++) {
		struct bobbin_sframe_fde fde;

		promise(!bobbin_sframe_fde(view, i, NULL, &fde));
		same_answer(view, sidefile, fde.start - 1);
		same_answer(view, sidefile, fde.start + fde.size);
		for (uint32_t k = 0; k < 64 && k < fde.size; k++)
			same_answer(view, sidefile, fde.start + (uint64_t)k * fde.size / 64);
	}
}

static void pack(const struct bobbin_sframe_view *view)
{
	struct bobbin_error error = {0};
	struct sidefile *sidefile;
	uint8_t *bytes;
	uint64_t size;
	int fd, r = sidefile_make(view, (const uint8_t[]){1, 2}, 2, &error, &bytes, &size);

	promise(!r || (r == -EBADMSG && error.reason && error.offset <= view->size));
	if (r)
		return;
	fd = memfd_create("sidefile", MFD_CLOEXEC);
	promise(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	free(bytes);
	promise(!sidefile_open(fd, &error, &sidefile));
	if (plain(view))
		same_answers(view, sidefile);
	sidefile_close(sidefile);
}

static void edit(struct byte_buffer *content, const uint8_t *edits)
{
	for (unsigned int i = 0; i < EDITS && content->size; i++, edits += 3)
		content->data[(edits[0] | edits[1] << 8) % content->size] ^= edits[2];
}

static void decode_head(const struct bobbin_arch *arch, const struct rule_dictionary *rules,
			const uint8_t *edits)
{
	struct sidefile_block blocks[] = {{.first = 1, .size = 50}, {.first = 4711, .size = 60}};
	struct sidefile_head head = {
		.arch = arch, .build_id_len = 4, .blocks = blocks, .block_count = 2};
	struct byte_buffer content = {0};
	struct bobbin_error error = {0};
	int r;

	sidefile_head_write(&head, rules, &content);
	edit(&content, edits);
	r = sidefile_head_read(&content, 100, 210, &error, &head);
	promise(!r || (r == -EBADMSG && error.reason && error.offset <= content.size));
	if (!r)
		sidefile_head_fini(&head);
	byte_buffer_fini(&content);
}

static void decode_block(const struct bobbin_arch *arch, const struct rule_dictionary *dictionary,
			 const struct byte_buffer *content)
{
	struct bobbin_rule *rules = calloc(dictionary->count + 1, sizeof(*rules));
	struct block_reader reader = {
		.arch = arch, .rules = rules, .rule_count = (uint32_t)dictionary->count};
	struct bobbin_error error = {0};
	uint8_t *section;
	uint64_t size;
	int r;

	promise(rules);
	for (size_t i = 0; i < dictionary->count; i++)
		rules[i] = dictionary->rules[i].rule;
	r = block_decode(&reader, content, ADDRESS, 77, &error, &section, &size);
	promise(!r || (r == -EBADMSG && error.reason && error.offset == 77));
	if (!r) {
		promise(obeys_contract(section, size, 0));
		free(section);
	}
	block_reader_fini(&reader);
	free(rules);
}

/* false: the section has functions that cannot be packed. */
static bool write_block(const struct bobbin_sframe_view *view, struct function_rows *rows,
			struct rule_dictionary *rules, struct byte_buffer *content)
{
	struct block_writer block = {0};
	struct bobbin_sframe_function f;
	int r = 0;

	for (uint32_t i = 0; i < view->num_fdes && r >= 0; i++) {
		r = function_rows_read(rows, view, i, NULL, &f);
		for (uint32_t k = 0; r > 0 && k < f.count; k++)
			promise(!rule_dictionary_count(rules, &f.rows[k].rule));
	}
	promise(!rule_dictionary_sort(rules));
	for (uint32_t i = 0; i < view->num_fdes && r >= 0; i++) {
		r = function_rows_read(rows, view, i, NULL, &f);
		if (r > 0)
			block_writer_add(&block, rules, &f);
	}
	block_writer_finish(&block, content);
	block_writer_fini(&block);
	return r >= 0;
}

static void change(const struct bobbin_sframe_view *view, const uint8_t *edits)
{
	struct rule_dictionary rules = {0};
	struct byte_buffer content = {0};
	struct function_rows rows = {0};

	if (write_block(view, &rows, &rules, &content)) {
		decode_head(view->arch, &rules, edits);
		edit(&content, edits);
		decode_block(view->arch, &rules, &content);
	}
	function_rows_fini(&rows);
	rule_dictionary_fini(&rules);
	byte_buffer_fini(&content);
}

/* Functions may share rows: what they claim is bounded by nothing else. */
static bool small(const struct bobbin_sframe_view *view)
{
	uint64_t rows = 0;

	for (uint32_t i = 0; i < view->num_fdes && i < MAX_FDES; i++) {
		struct bobbin_sframe_fde fde;

		if (!bobbin_sframe_fde(view, i, NULL, &fde))
			rows += fde.num_fres;
	}
	return view->num_fdes < MAX_FDES && rows < MAX_FRES;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bobbin_sframe_view view;
	const uint8_t *edits;

	if (size < TRAILER)
		return 0;
	size -= TRAILER;
	edits = data + size;
	if (bobbin_sframe_view(data, size, ADDRESS, NULL, &view) || !small(&view))
		return 0;
	if (edits[TRAILER - 1] & 1)
		change(&view, edits);
	else
		pack(&view);
	return 0;
}
