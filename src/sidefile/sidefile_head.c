/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sidefile/sidefile_head.h"

#include <stdlib.h>

#include "core/refusal.h"

/* Bytes of a block in the index, at least. */
#define LEAST_BLOCK 2

void sidefile_head_write(const struct sidefile_head *head, const struct rule_dictionary *rules,
			 struct byte_buffer *out)
{
	uint64_t before = 0;

	out->size = 0;
	byte_buffer_uleb(out, head->arch->elf_machine);
	byte_buffer_u8(out, head->arch->big_endian);
	byte_buffer_u8(out, head->build_id_len);
	byte_buffer_put(out, head->build_id, head->build_id_len);
	rule_dictionary_write(rules, out);
	byte_buffer_uleb(out, head->block_count);
	for (uint32_t i = 0; i < head->block_count; i++) {
		byte_buffer_uleb(out, head->blocks[i].first - before);
		byte_buffer_uleb(out, head->blocks[i].size);
		before = head->blocks[i].first;
	}
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

static int read_index(struct bytes *in, uint64_t offset, uint64_t file_size,
		      struct bobbin_error *err, struct sidefile_head *head)
{
	uint64_t start = in->pos, count = bytes_uleb(in), first = 0;

	if (count > bytes_left(in) / LEAST_BLOCK)
		return refuse(err, start, BOBBIN_REASON_SIDEFILE_HEAD);
	head->blocks = calloc(count ? count : 1, sizeof(*head->blocks));
	if (!head->blocks)
		return -ENOMEM;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t step = bytes_uleb(in), size = bytes_uleb(in);

		if (in->bad || (i && !step) || step > UINT64_MAX - first || size > UINT32_MAX ||
		    size > file_size - offset)
			return refuse(err, in->pos, BOBBIN_REASON_SIDEFILE_HEAD);
		first += step;
		head->blocks[i] = (struct sidefile_block){first, offset, (uint32_t)size};
		offset += size;
	}
	head->block_count = (uint32_t)count;
	if (bytes_left(in) || offset != file_size)
		return refuse(err, in->pos, BOBBIN_REASON_SIDEFILE_HEAD);
	return 0;
}

int sidefile_head_read(const struct byte_buffer *content, uint64_t offset, uint64_t file_size,
		       struct bobbin_error *err, struct sidefile_head *ret)
{
	struct bytes in = bytes_of(content->data, content->size, false);
	struct sidefile_head head = {0};
	int r = read_owner(&in, err, &head);

	if (!r)
		r = rule_dictionary_read(&in, head.arch, err, &head.rules, &head.rule_count);
	if (!r)
		r = read_index(&in, offset, file_size, err, &head);
	if (r)
		sidefile_head_fini(&head);
	else
		*ret = head;
	return r;
}

void sidefile_head_fini(struct sidefile_head *head)
{
	free(head->rules);
	free(head->blocks);
	*head = (struct sidefile_head){0};
}
