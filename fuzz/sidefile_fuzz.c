/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Side-files of any bytes that are an SFrame section, and what becomes of them
 * when their insides change.
 *
 *	section | EDITS times: u16 place, u8 change | u8 what to do
 *
 * Frames have checksums that no fuzzer guesses, so the edits are made to what is
 * in a frame.  Contract: what is packed answers as the section does, if no function was
 * dropped; what was edited is refused with a reason, or is rows in order.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../tests/sframe/sframe_contract.h"
#include "sidefile/block_codec.h"
#include "sidefile/sidefile.h"
#include "table/table_rules.h"
#include "table/table_sources.h"

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
	/* rows with equal rules that follow each other are one */
	promise(row.start >= packed.start && row.end <= packed.end &&
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

static void note_report(void *ctx, const struct merge_report *report)
{
	promise(report->reason && report->left < report->size + (uint64_t)!report->size);
	*(bool *)ctx = true;
}

/* false: the section has functions that cannot be packed; @changed: some are dropped or clipped. */
static bool take_rows(const struct bobbin_sframe_view *view, struct table_builder *rows,
		      bool *changed)
{
	const struct table_sources sources = {.arch = view->arch,
					      .sframe = view,
					      .sframe_count = 1,
					      .report = note_report,
					      .ctx = changed};
	int r;

	promise(!table_builder_init(view->arch, (const uint8_t[]){1, 2}, 2, rows));
	r = table_sources_rows(&sources, rows);
	promise(!r || r == -EBADMSG || r == -E2BIG || r == -ERANGE);
	return !r;
}

static void pack(const struct bobbin_sframe_view *view, bool changed, struct table_builder *rows)
{
	struct bobbin_error error = {0};
	struct sidefile *sidefile;
	uint8_t *bytes;
	uint64_t size;
	int fd = memfd_create("sidefile", MFD_CLOEXEC);

	promise(!sidefile_make(rows, &bytes, &size));
	promise(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	free(bytes);
	promise(!sidefile_open(fd, &error, &sidefile));
	if (!changed && plain(view))
		same_answers(view, sidefile);
	sidefile_close(sidefile);
}

static void edit(struct byte_buffer *content, const uint8_t *edits)
{
	for (unsigned int i = 0; i < EDITS && content->size; i++, edits += 3)
		content->data[(edits[0] | edits[1] << 8) % content->size] ^= edits[2];
}

static void decode_head(const struct sidefile_head *written, const uint8_t *edits)
{
	struct sidefile_block blocks[] = {{.first = 1, .size = 50}, {.first = 4711, .size = 60}};
	struct sidefile_head head = *written, read;
	struct byte_buffer content = {0};
	struct bobbin_error error = {0};
	int r;

	head.blocks = blocks;
	head.block_count = 2;
	head.end = 5000;
	sidefile_head_write(&head, &content);
	edit(&content, edits);
	r = sidefile_head_read(&content, 100, 210, &error, &read);
	promise(!r || (r == -EBADMSG && error.reason && error.offset <= content.size));
	if (!r)
		sidefile_head_fini(&read);
	byte_buffer_fini(&content);
}

static void decode_block(const struct compiled_table *rules, const struct byte_buffer *content,
			 uint64_t first, uint64_t end)
{
	static struct block_rows block;
	struct bobbin_error error = {0};
	int r;

	block.end = end;
	r = block_read(content, rules, first, 77, &error, &block);
	promise(!r || (r == -EBADMSG && error.reason && error.offset == 77));
	if (r)
		return;
	promise(block.count && block.count <= SIDEFILE_BLOCK_ROWS && block.function <= first &&
		block.rows[0].start == first);
	for (uint32_t i = 0; i < block.count; i++) {
		uint64_t next = i + 1 < block.count ? block.rows[i + 1].start : block.end;

		promise(block.rows[i].start < next);
		promise(block.rows[i].rule < rules->word_count + rules->wide_count);
	}
}

static void change(const struct table_builder *builder, const uint8_t *edits)
{
	const struct rule_rows *rows = &builder->rows;
	static struct block_rows block;
	struct sidefile_head head = {.arch = builder->arch};
	struct table_rules rules;
	struct block_writer writer = {0};
	struct byte_buffer content = {0};

	promise(!table_rules_init(rows, &rules));
	table_rules_write(&rules, &head.parts);
	sidefile_head_rules(&head, rules.word_count, rules.wide_count);
	decode_head(&head, edits);
	block.count = 0;
	for (size_t i = 0; i < rows->count && i < SIDEFILE_BLOCK_ROWS; i++)
		block.rows[block.count++] = (struct rule_row){
			rows->row[i].start, table_rules_number(&rules, &rows->row[i]),
			rows->row[i].begins};
	block.function = block.rows[0].start;
	if (block.count) {
		block_write(&writer, &head.rules, &block, &content);
		edit(&content, edits);
		decode_block(&head.rules, &content, block.rows[0].start, builder->end);
	}
	table_rules_fini(&rules);
	block_writer_fini(&writer);
	byte_buffer_fini(&head.parts);
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
	struct table_builder rows;
	const uint8_t *edits;
	bool changed = false;

	if (size < TRAILER)
		return 0;
	size -= TRAILER;
	edits = data + size;
	if (bobbin_sframe_view(data, size, ADDRESS, NULL, &view) || !small(&view))
		return 0;
	if (!take_rows(&view, &rows, &changed))
		;
	else if (edits[TRAILER - 1] & 1)
		change(&rows, edits);
	else
		pack(&view, changed, &rows);
	table_builder_fini(&rows);
	return 0;
}
