// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * compiled.c - lookups in compiled tables of user space.
 *
 * The lookup is the library's, and looks at copies only: what it uses is what it has checked,
 * though the table may change meanwhile.
 */
#include "compiled.h"

#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "table/table_head.h"
#include "table/table_lookup.h"

/**
 * struct user_table - a table, as long as a lookup takes
 * @table: the first member
 * @pairs: in kernel memory
 * @number: the last piece of eight bytes
 * @block: the block
 */
struct user_table {
	struct compiled_table table;
	const u8 *pairs;
	u8 number[sizeof(u64)];
	u8 block[TABLE_BLOCK_SIZE];
};

static struct user_table *user_table_of(const struct compiled_table *t)
{
	return (struct user_table *)container_of_const(t, struct user_table, table);
}

static const uint8_t *table_piece(const struct compiled_table *t, const uint8_t *at,
				  unsigned int size)
{
	struct user_table *user = user_table_of(t);
	u8 *to = size == TABLE_BLOCK_SIZE ? user->block : user->number;

	return copy_from_user(to, (const void __user *)at, size) ? NULL : to;
}

static const uint8_t *table_pairs(const struct compiled_table *t)
{
	return user_table_of(t)->pairs;
}

/* A table has whole cells: it may begin before the text. */
static bool is_about(const struct sframe_compiled *c, const struct sframe_section *section)
{
	for (unsigned int i = 0; i < section->range_count; i++) {
		u64 start = section->ranges[i].start - c->bias;
		u64 end = section->ranges[i].end - c->bias;

		if (start < end && start < c->table.end && end > c->table.start)
			return true;
	}
	return false;
}

static int check_head(struct sframe_compiled *c, unsigned long data, u64 size, const u8 *build_id,
		      unsigned int length)
{
	u8 head[TABLE_HEAD_SIZE];
	struct compiled_table *t = &c->table;
	int status;

	if (size < sizeof(head))
		return -EBADMSG;
	if (copy_from_user(head, (const void __user *)data, sizeof(head)))
		return -EFAULT;
	status = table_read_head(head, (const u8 *)data, size, NULL, t);
	if (status)
		return status;
	if (t->arch != BOBBIN_NATIVE_ARCH())
		return -EBADMSG;
	if (length && t->build_id_len &&
	    (length != t->build_id_len || memcmp(build_id, t->build_id, length)))
		return -EBADMSG;
	/* of the copy */
	t->build_id = NULL;
	t->build_id_len = 0;
	return copy_from_user(c->pairs, (const void __user *)t->pairs, sizeof(c->pairs)) ? -EFAULT
											 : 0;
}

int sframe_open_compiled(struct sframe_section *section, unsigned long data, u64 size, u64 bias,
			 const u8 *build_id, unsigned int length)
{
	struct sframe_compiled *c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	int status;

	if (!c)
		return -ENOMEM;
	c->bias = bias;
	status = check_head(c, data, size, build_id, length);
	if (!status && !is_about(c, section))
		status = -EBADMSG;
	if (status)
		kfree(c);
	else
		section->compiled = c;
	return status;
}

static int read_rule(const struct user_table *user, const struct compiled_row *row,
		     struct bobbin_rule *ret)
{
	const struct compiled_table *t = &user->table;
	u8 wide[TABLE_WIDE_SIZE];
	const u8 *at;

	if (row->word) {
		bobbin_rule_unpack(row->word, ret);
		return 0;
	}
	at = t->wide + (u64)(row->number - t->word_count) * TABLE_WIDE_SIZE;
	if (copy_from_user(wide, (const void __user *)at, sizeof(wide)))
		return -EFAULT;
	return table_read_wide(wide, ret);
}

int sframe_lookup_compiled(const struct sframe_section *section, u64 pc, struct bobbin_error *error,
			   struct bobbin_row *row)
{
	const struct sframe_compiled *c = section->compiled;
	struct user_table user = {.table = c->table, .pairs = c->pairs};
	const u64 vaddr = pc - c->bias;
	struct table_steps steps;
	struct compiled_row found;
	int status = table_find(&user.table, vaddr, &steps, &found);

	if (status == -ENOENT)
		return status;
	if (!status && (vaddr < found.start || vaddr >= found.end))
		status = -EBADMSG;
	if (!status)
		status = read_rule(&user, &found, &row->rule);
	if (status)
		return refuse(error, 0, BOBBIN_REASON_TABLE_ROW);
	row->start = found.start + c->bias;
	row->end = found.end + c->bias;
	row->function = row->start;
	return 0;
}
