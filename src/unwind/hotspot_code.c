/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/hotspot_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/vector.h"
#include "core/bisect.h"

#define MS 1000000ull
/* Blobs are compared no more often than that; a place is not used again so soon. */
#define CHECK_PAUSE (100 * MS)
/* Beyond these, what is known is forgotten and read again where it is needed. */
#define PIECES_MAX 16384u
#define BYTES_MAX ((uint64_t)16 << 20)
/* Descriptions that are read at once. */
#define CHECKED_AT_ONCE 64u

/* Code whose rows are known: a blob, or one template of the interpreter. */
struct hotspot_piece {
	uint64_t start, end;
	struct hotspot_blob blob;
	struct described_rows rows; /* from @start on */
	bool named;                 /* somebody has its name */
};

int hotspot_code_open(const struct remote_process *process, const struct mapping_list *maps,
		      const struct infer_ops *infer, struct hotspot_code **ret)
{
	struct hotspot_code *code = calloc(1, sizeof(*code));
	int r = code ? hotspot_open(process, maps, &code->vm) : -ENOMEM;

	if (r) {
		free(code);
		return r;
	}
	code->users = 1;
	code->infer = infer;
	*ret = code;
	return 0;
}

struct hotspot_code *hotspot_code_share(struct hotspot_code *code)
{
	if (code)
		code->users++;
	return code;
}

static void forget(struct hotspot_code *code, struct hotspot_piece *piece)
{
	code->bytes -= piece->rows.room * sizeof(*piece->rows.rows);
	free(piece->rows.rows);
}

static void forget_all(struct hotspot_code *code)
{
	for (size_t i = 0; i < code->count; i++)
		forget(code, &code->pieces[i]);
	code->count = 0;
}

void hotspot_code_release(struct hotspot_code *code)
{
	if (!code || --code->users)
		return;
	forget_all(code);
	free(code->pieces);
	free(code->code);
	free(code);
}

/* The first piece that ends after an address. */
static size_t piece_after(const struct hotspot_code *code, uint64_t addr)
{
	return bisect(at, 0, code->count, code->pieces[at].end > addr);
}

static struct hotspot_piece *find_piece(const struct hotspot_code *code, uint64_t addr)
{
	const size_t i = piece_after(code, addr);

	return i < code->count && code->pieces[i].start <= addr ? &code->pieces[i] : NULL;
}

static void remove_piece(struct hotspot_code *code, size_t i)
{
	forget(code, &code->pieces[i]);
	code->count--;
	memmove(&code->pieces[i], &code->pieces[i + 1], (code->count - i) * sizeof(*code->pieces));
}

/* What was known of the same memory is older.  Takes over the rows. */
static int add_piece(struct hotspot_code *code, struct hotspot_piece *piece)
{
	size_t at = piece_after(code, piece->start);

	while (at < code->count && code->pieces[at].start < piece->end)
		remove_piece(code, at);
	if (code->count >= PIECES_MAX || code->bytes > BYTES_MAX) {
		forget_all(code);
		at = 0;
	}
	if (vector_reserve(&code->pieces, &code->room, code->count + 1, sizeof(*code->pieces))) {
		free(piece->rows.rows);
		return -ENOMEM;
	}
	memmove(&code->pieces[at + 1], &code->pieces[at],
		(code->count - at) * sizeof(*code->pieces));
	code->pieces[at] = *piece;
	code->count++;
	code->bytes += piece->rows.room * sizeof(*piece->rows.rows);
	return 0;
}

/* reading a piece */

static uint32_t offset_or(int64_t offset, uint32_t none)
{
	return offset < 0 ? none : (uint32_t)offset;
}

static uint8_t kind_of(const struct hotspot_blob *b)
{
	switch (b->kind) {
	case HOTSPOT_COMPILED:
	case HOTSPOT_NATIVE:
		return DESCRIBED_METHOD;
	case HOTSPOT_ROUTINE:
		return DESCRIBED_ROUTINE;
	case HOTSPOT_THUNKS:
		return DESCRIBED_THUNKS;
	default:
		return DESCRIBED_ROUTINES;
	}
}

/* @code: its bytes are to be read there. */
static struct described_code description_of(const struct hotspot_blob *b, const uint8_t *code)
{
	struct described_code d = {
		.bytes = code,
		.addr = b->code,
		.size = (uint32_t)(b->end - b->code),
		.frame = (uint32_t)b->frame,
		.kind = kind_of(b),
	};

	if (d.kind == DESCRIBED_METHOD) {
		d.entry = offset_or(b->entry, 0);
		d.second = offset_or(b->second, 0);
		d.complete = b->complete < 0 || b->complete >= d.size ? 0 : (uint32_t)b->complete;
		d.stubs = offset_or(b->stubs, d.size);
		d.handlers = offset_or(b->handlers, d.size);
	}
	return d;
}

static int read_code(struct hotspot_code *code, uint64_t start, uint64_t end)
{
	if (end - start > DESCRIBED_CODE_MAX)
		return -EFBIG;
	if (!code->code)
		code->code = malloc(DESCRIBED_CODE_MAX);
	if (!code->code)
		return -ENOMEM;
	return process_read(&code->vm.process, start, code->code, end - start);
}

static int rules_of(struct hotspot_code *code, const struct described_code *d,
		    struct described_rows *ret)
{
	const int r = code->infer->described(d, ret);

	if (!r)
		vector_trim(&ret->rows, &ret->room, ret->count, sizeof(*ret->rows));
	return r;
}

/* A blob without rows is known, too: it is not read again. */
static int add_blob(struct hotspot_code *code, const struct hotspot_blob *blob)
{
	struct hotspot_piece piece = {.start = blob->code, .end = blob->end, .blob = *blob};
	int r = 0;

	if (blob->kind != HOTSPOT_ADAPTERS) {
		struct described_code d;

		r = read_code(code, blob->code, blob->end);
		d = description_of(blob, code->code);
		r = r ? r : rules_of(code, &d, &piece.rows);
	}
	if (r && r != -EFBIG)
		return r;
	return add_piece(code, &piece);
}

/* Its head is before the code: a return address may be the first byte after it. */
static int add_codelet(struct hotspot_code *code, const struct hotspot_blob *blob,
		       const struct hotspot_codelet *codelet)
{
	struct hotspot_piece piece = {.start = codelet->code, .end = codelet->end, .blob = *blob};
	struct described_code d = {
		.addr = codelet->code,
		.size = (uint32_t)(codelet->end - codelet->code),
		.kind = codelet->is_entry ? DESCRIBED_ENTRY : DESCRIBED_INTERPRETER,
	};
	int r = read_code(code, codelet->code, codelet->end);

	d.bytes = code->code;
	r = r ? r : rules_of(code, &d, &piece.rows);
	if (r)
		return r;
	for (size_t i = 1; i < piece.rows.count && !codelet->is_entry; i++)
		piece.rows.rows[i].start += (uint32_t)(codelet->code - codelet->start);
	if (!codelet->is_entry)
		piece.start = codelet->start;
	return add_piece(code, &piece);
}

static int read_piece(struct hotspot_code *code, uint64_t addr)
{
	struct hotspot_codelet codelet;
	struct hotspot_blob blob;
	int r = hotspot_find(&code->vm, addr, &blob);

	if (r)
		return r;
	if (blob.kind != HOTSPOT_TEMPLATES)
		return add_blob(code, &blob);
	r = hotspot_codelet_at(&code->vm, addr, &codelet);
	return r ? r : add_codelet(code, &blob, &codelet);
}

/* The last row at or before an offset, or NULL. */
static const struct described_row *row_at(const struct described_rows *rows, uint64_t offset)
{
	const size_t after = bisect(at, 0, rows->count, rows->rows[at].start > offset);

	return after ? &rows->rows[after - 1] : NULL;
}

static void fill_row(const struct hotspot_piece *piece, const struct described_row *row,
		     struct bobbin_row *ret)
{
	const struct described_row *end = piece->rows.rows + piece->rows.count;

	ret->start = piece->start + row->start;
	ret->end = row + 1 < end ? piece->start + row[1].start : piece->end;
	ret->function = piece->start;
	bobbin_rule_unpack(row->word, &ret->rule);
	if (row->likely)
		ret->rule.flags |= BOBBIN_RULE_LEAF;
}

static int lookup(void *table, const struct bobbin_arch *arch, uint64_t pc,
		  struct bobbin_error *err, struct table_answer *ret)
{
	struct hotspot_code *code = table;
	const struct hotspot_piece *piece = find_piece(code, pc);
	const struct described_row *row;

	(void)arch;
	(void)err;
	if (!piece && !read_piece(code, pc))
		piece = find_piece(code, pc);
	row = piece ? row_at(&piece->rows, pc - piece->start) : NULL;
	if (!row || !row->word)
		return -ENOENT;
	fill_row(piece, row, &ret->row);
	return 0;
}

static bool function(const void *table, uint64_t pc, uint64_t *ret)
{
	const struct hotspot_piece *piece = find_piece(table, pc);

	if (piece)
		*ret = piece->start;
	return piece;
}

const struct table_ops hotspot_code_ops = {
	.kind = TABLE_HOTSPOT,
	.sources = {BOBBIN_SOURCE_HOTSPOT},
	.whole = true,
	.lookup = lookup,
	.function = function,
};

int hotspot_code_name(struct hotspot_code *code, uint64_t addr, bool once, struct hotspot_name *ret)
{
	struct hotspot_piece *piece = find_piece(code, addr);
	int r;

	if (!piece || (once && piece->named))
		return 0;
	ret->start = piece->start;
	ret->size = piece->end - piece->start;
	r = hotspot_blob_name(&code->vm, &piece->blob, ret->text);
	piece->named |= once && !r;
	return r ? r : 1;
}

/* changes */

/* Compare up to CHECKED_AT_ONCE pieces from @first on; how many of them are left. */
static size_t check_some(struct hotspot_code *code, size_t first,
			 uint8_t bytes[CHECKED_AT_ONCE][HOTSPOT_DESCRIPTION])
{
	struct process_read reads[CHECKED_AT_ONCE];
	size_t count = code->count - first, left = 0;

	if (count > CHECKED_AT_ONCE)
		count = CHECKED_AT_ONCE;
	for (size_t i = 0; i < count; i++)
		reads[i] = (struct process_read){code->pieces[first + i].blob.at, bytes[i],
						 HOTSPOT_DESCRIPTION, 0};
	process_read_all(&code->vm.process, reads, count);
	for (size_t i = 0; i < count; i++) {
		if (reads[i].error == -EFAULT)
			reads[i].error = hotspot_read_description(&code->vm, reads[i].addr,
								  bytes[i]);
		/* a process that has ended has samples that are to be walked yet */
		if (reads[i].error == -ESRCH ||
		    (!reads[i].error &&
		     hotspot_is_same(&code->vm, &code->pieces[first + left].blob, bytes[i])))
			left++;
		else
			remove_piece(code, first + left);
	}
	return left;
}

static void check_pieces(struct hotspot_code *code)
{
	uint8_t(*bytes)[HOTSPOT_DESCRIPTION] = malloc(CHECKED_AT_ONCE * sizeof(*bytes));

	if (!bytes) {
		forget_all(code);
		return;
	}
	for (size_t i = 0; i < code->count;)
		i += check_some(code, i, bytes);
	free(bytes);
}

bool hotspot_code_update(struct hotspot_code *code)
{
	if (clock_now() < code->due)
		return false;
	check_pieces(code);
	code->due = clock_now() + CHECK_PAUSE;
	return hotspot_update(&code->vm) > 0;
}
