/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sidefile/sidefile_head.h"

#include <stdlib.h>

#include "core/bytes.h"
#include "core/refusal.h"
#include "sidefile/sidefile_format.h"

/* Bytes of a block in the index, at least. */
#define LEAST_BLOCK 2

static size_t beginners_size(uint32_t words, uint32_t wide)
{
	return (words + wide + 7) / 8;
}

void sidefile_head_rules(struct sidefile_head *head, uint32_t words, uint32_t wide)
{
	const uint8_t *parts = head->parts.data;

	head->rules = (struct compiled_table){
		.words = parts,
		.wide = parts + (size_t)words * TABLE_WORD_SIZE,
		.beginners = parts + (size_t)words * TABLE_WORD_SIZE +
			     (size_t)wide * TABLE_WIDE_SIZE,
		.word_count = words,
		.wide_count = wide,
		.arch = head->arch,
	};
}

/* The first bytes of all items, then the second ones, and so on. */
static void write_planes(const uint8_t *items, uint32_t count, unsigned int size,
			 struct byte_buffer *out)
{
	for (unsigned int byte = 0; byte < size; byte++)
		for (uint32_t i = 0; i < count; i++)
			byte_buffer_u8(out, items[(size_t)i * size + byte]);
}

static void read_planes(struct bytes *in, uint32_t count, unsigned int size, uint8_t *items)
{
	for (unsigned int byte = 0; byte < size; byte++)
		for (uint32_t i = 0; i < count; i++)
			items[(size_t)i * size + byte] = bytes_u8(in);
}

static void write_rules(const struct compiled_table *rules, struct byte_buffer *out)
{
	byte_buffer_uleb(out, rules->word_count);
	byte_buffer_uleb(out, rules->wide_count);
	write_planes(rules->words, rules->word_count, TABLE_WORD_SIZE, out);
	write_planes(rules->wide, rules->wide_count, TABLE_WIDE_SIZE, out);
	byte_buffer_put(out, rules->beginners,
			beginners_size(rules->word_count, rules->wide_count));
}

void sidefile_head_write(const struct sidefile_head *head, struct byte_buffer *out)
{
	uint64_t before = 0;

	out->size = 0;
	byte_buffer_uleb(out, head->arch->elf_machine);
	byte_buffer_u8(out, head->arch->big_endian);
	byte_buffer_u8(out, head->build_id_len);
	byte_buffer_put(out, head->build_id, head->build_id_len);
	write_rules(&head->rules, out);
	byte_buffer_uleb(out, head->block_count);
	for (uint32_t i = 0; i < head->block_count; i++) {
		byte_buffer_uleb(out, head->blocks[i].first - before);
		byte_buffer_uleb(out, head->blocks[i].size);
		before = head->blocks[i].first;
	}
	byte_buffer_uleb(out, head->end - before);
}

static int read_owner(struct bytes *in, struct bobbin_error *err, struct sidefile_head *head)
{
	uint64_t machine = bytes_uleb(in);
	uint8_t big_endian = bytes_u8(in), length = bytes_u8(in);

	if (machine > UINT16_MAX || big_endian > 1 || length > sizeof(head->build_id))
		return refuse(err, 0, BOBBIN_REASON_SIDEFILE_HEAD);
	for (unsigned int i = 0; i < length; i++)
		head->build_id[i] = bytes_u8(in);
	head->build_id_len = length;
	if (in->bad)
		return refuse(err, in->pos, BOBBIN_REASON_SIDEFILE_HEAD);
	head->arch = bobbin_arch_of_elf((uint16_t)machine, big_endian);
	return head->arch ? 0 : refuse(err, 0, BOBBIN_REASON_ELF_MACHINE);
}

static int read_rules(struct bytes *in, struct bobbin_error *err, struct sidefile_head *head)
{
	uint64_t start = in->pos, words = bytes_uleb(in), wide = bytes_uleb(in), left, size;
	uint8_t *to;

	if (in->bad || words > TABLE_MAX_RULES || wide > TABLE_MAX_RULES)
		return refuse(err, start, BOBBIN_REASON_SIDEFILE_HEAD);
	left = words * TABLE_WORD_SIZE + wide * TABLE_WIDE_SIZE;
	size = left + beginners_size((uint32_t)words, (uint32_t)wide);
	if (size > bytes_left(in))
		return refuse(err, start, BOBBIN_REASON_SIDEFILE_HEAD);
	to = byte_buffer_room(&head->parts, size);
	if (!to)
		return -ENOMEM;
	read_planes(in, (uint32_t)words, TABLE_WORD_SIZE, to);
	read_planes(in, (uint32_t)wide, TABLE_WIDE_SIZE, to + words * TABLE_WORD_SIZE);
	for (uint64_t i = left; i < size; i++)
		to[i] = bytes_u8(in);
	head->parts.size = size;
	sidefile_head_rules(head, (uint32_t)words, (uint32_t)wide);
	return 0;
}

static int read_blocks(struct bytes *in, uint64_t offset, uint64_t file_size,
		       struct sidefile_head *head)
{
	uint64_t count = bytes_uleb(in), first = 0;

	/* what blocks take in memory is in proportion to the file, not to what its head unfolds to */
	if (count > bytes_left(in) / LEAST_BLOCK ||
	    count > (file_size - offset) / SIDEFILE_LEAST_FRAME)
		return -EBADMSG;
	head->blocks = calloc(count ? count : 1, sizeof(*head->blocks));
	if (!head->blocks)
		return -ENOMEM;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t step = bytes_uleb(in), size = bytes_uleb(in);

		if (in->bad || (i && !step) || step > UINT64_MAX - first ||
		    size < SIDEFILE_LEAST_FRAME || size > UINT32_MAX || size > file_size - offset)
			return -EBADMSG;
		first += step;
		head->blocks[i] = (struct sidefile_block){first, offset, (uint32_t)size};
		offset += size;
	}
	head->block_count = (uint32_t)count;
	head->end = first + bytes_uleb(in);
	if (in->bad || bytes_left(in) || offset != file_size || head->end < first ||
	    (count && head->end == first))
		return -EBADMSG;
	return 0;
}

int sidefile_head_read(const struct byte_buffer *content, uint64_t offset, uint64_t file_size,
		       struct bobbin_error *err, struct sidefile_head *ret)
{
	struct bytes in = bytes_of(content->data, content->size, false);
	struct sidefile_head head = {0};
	int r = read_owner(&in, err, &head);

	if (!r)
		r = read_rules(&in, err, &head);
	if (!r) {
		r = read_blocks(&in, offset, file_size, &head);
		if (r == -EBADMSG)
			r = refuse(err, in.pos, BOBBIN_REASON_SIDEFILE_HEAD);
	}
	if (r)
		sidefile_head_fini(&head);
	else
		*ret = head;
	return r;
}

void sidefile_head_fini(struct sidefile_head *head)
{
	byte_buffer_fini(&head->parts);
	free(head->blocks);
	*head = (struct sidefile_head){0};
}
