/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "frames/frame_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/vector.h"

/* The smallest of pages; where they are larger, more pieces are read than need be. */
#define PAGE 4096u
#define PAGES_AT_ONCE 16

/* Length and id of an entry; lengths of 64 bits follow a mark. */
#define HEAD_SIZE 8u
#define WIDE_LENGTH 0xffffffffu
#define WIDE_HEAD_SIZE 16u

/**
 * struct frame_entry - a CIE or an FDE
 * @size: all bytes; 0: it is the terminator
 * @id_pos: of the id, from the entry's start
 * @id: 0: a CIE; else how far before the id the CIE begins
 */
struct frame_entry {
	uint64_t size;
	uint32_t id_pos, id;
};

/**
 * struct reading - a section that is being copied
 * @have: bytes at @bytes that were read
 */
struct reading {
	uint64_t addr;
	uint8_t *bytes;
	size_t have, capacity;
	int error;
};

size_t frame_memory_read(uint64_t addr, void *dst, size_t size)
{
	struct iovec local = {dst, size}, remote[PAGES_AT_ONCE];
	unsigned long count = 0;
	ssize_t r;

	/* of an element that ends in unreadable memory, nothing need be read */
	while (size && count < PAGES_AT_ONCE) {
		size_t part = PAGE - addr % PAGE;

		if (part > size)
			part = size;
		remote[count++] = (struct iovec){(void *)(uintptr_t)addr, part};
		addr += part;
		size -= part;
	}
	/* the first thread, which has the process's number, may have ended */
	r = process_vm_readv((pid_t)syscall(SYS_gettid), &local, 1, remote, count, 0);
	return r < 0 ? 0 : (size_t)r;
}

/* Have at least @need bytes; false: they cannot be read, or there is no memory. */
static bool have(struct reading *reading, uint64_t need)
{
	while (reading->have < need) {
		/* what follows in the page, then always as much again */
		size_t more = PAGE - (reading->addr + reading->have) % PAGE;
		size_t got;

		if (reading->have >= PAGE)
			more += reading->have < PAGE * (PAGES_AT_ONCE - 1)
					? reading->have / PAGE * PAGE
					: PAGE * (PAGES_AT_ONCE - 1);
		if (vector_reserve(&reading->bytes, &reading->capacity, reading->have + more, 1)) {
			reading->error = -ENOMEM;
			return false;
		}
		got = frame_memory_read(reading->addr + reading->have,
					reading->bytes + reading->have, more);
		reading->have += got;
		if (!got)
			return false;
	}
	return true;
}

static uint32_t word(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* The entry at @pos; false: it is not there, or has no sane length. */
static bool next_entry(struct reading *reading, size_t pos, struct frame_entry *ret)
{
	struct frame_entry entry = {.id_pos = 4};
	uint64_t length;

	if (!have(reading, pos + 4))
		return false;
	length = word(reading->bytes + pos);
	if (!length) {
		*ret = entry;
		return true;
	}
	if (length == WIDE_LENGTH) {
		if (!have(reading, pos + WIDE_HEAD_SIZE))
			return false;
		memcpy(&length, reading->bytes + pos + 4, sizeof(length));
		entry.id_pos = 12;
	}
	if (length < 4 || length > FRAME_COPY_MAX - pos ||
	    !have(reading, pos + entry.id_pos + length))
		return false;
	entry.id = word(reading->bytes + pos + entry.id_pos);
	entry.size = entry.id_pos + length;
	*ret = entry;
	return true;
}

/* Whether the FDE at @pos names a CIE before it; what lies after a section does not. */
static bool has_cie(const struct reading *reading, size_t pos, const struct frame_entry *fde)
{
	uint64_t id_pos = pos + fde->id_pos, cie = id_pos - fde->id;
	uint32_t length;

	if (fde->id > id_pos || cie + HEAD_SIZE > pos)
		return false;
	length = word(reading->bytes + cie);
	if (length != WIDE_LENGTH)
		return length && !word(reading->bytes + cie + 4);
	return cie + WIDE_HEAD_SIZE <= pos && !word(reading->bytes + cie + 12);
}

/* All entries up to the terminator. */
static int copy_section(struct reading *reading, struct frame_copy *ret)
{
	struct frame_entry entry = {0};
	size_t pos = 0;
	bool sane;

	while ((sane = next_entry(reading, pos, &entry)) && entry.size &&
	       (sane = !entry.id || has_cie(reading, pos, &entry)))
		pos += entry.size;
	if (reading->error)
		return reading->error;
	*ret = (struct frame_copy){reading->bytes, pos, reading->addr, !sane};
	return 0;
}

/* A CIE and the FDE, with an entry between them that nobody looks at. */
static int copy_apart(uint64_t cie, const struct frame_entry *cie_entry,
		      const struct reading *cie_bytes, const struct reading *fde_bytes,
		      const struct frame_entry *fde_entry, struct frame_copy *ret)
{
	size_t gap = fde_bytes->addr - cie - cie_entry->size;
	uint32_t length = word(cie_bytes->bytes);
	uint8_t *bytes = calloc(1, cie_entry->size + gap + fde_entry->size);
	uint8_t *between = bytes + cie_entry->size;

	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, cie_bytes->bytes, cie_entry->size);
	memcpy(between + gap, fde_bytes->bytes, fde_entry->size);
	if (gap < HEAD_SIZE) {
		/* too small for an entry: more of the zeros that end a CIE */
		length += (uint32_t)gap;
		memcpy(bytes, &length, sizeof(length));
	} else {
		length = (uint32_t)gap - 4;
		memcpy(between, &length, sizeof(length));
	}
	*ret = (struct frame_copy){bytes, cie_entry->size + gap + fde_entry->size, cie, false};
	return 0;
}

/* What LLVM's libunwind takes: one FDE, whose CIE is somewhere before it. */
static int copy_fde(const struct reading *fde, const struct frame_entry *entry,
		    struct frame_copy *ret)
{
	struct reading cie = {.addr = fde->addr + entry->id_pos - entry->id};
	struct frame_entry cie_entry;
	int r = -EBADMSG;

	if (entry->id_pos != 4 || cie.addr >= fde->addr || fde->addr - cie.addr > FRAME_COPY_MAX)
		return -EBADMSG;
	if (next_entry(&cie, 0, &cie_entry) && cie_entry.size && !cie_entry.id &&
	    cie_entry.id_pos == 4 && cie_entry.size <= fde->addr - cie.addr)
		r = copy_apart(cie.addr, &cie_entry, &cie, fde, entry, ret);
	free(cie.bytes);
	return r;
}

int frame_copy_init(uint64_t addr, struct frame_copy *ret)
{
	struct reading reading = {.addr = addr};
	struct frame_entry first = {0};
	int r = -EFAULT;

	if (next_entry(&reading, 0, &first)) {
		if (!first.size)
			r = -ENODATA;
		else if (first.id)
			r = copy_fde(&reading, &first, ret);
		else
			r = copy_section(&reading, ret);
	}
	if (r || first.id)
		free(reading.bytes);
	return r && reading.error ? reading.error : r;
}

void frame_copy_hide(struct frame_copy *copy, uint64_t offset)
{
	uint8_t *entry = copy->bytes + offset;

	/* a CIE, which no FDE names */
	memset(entry + (word(entry) == WIDE_LENGTH ? 12 : 4), 0, 4);
}

void frame_copy_fini(struct frame_copy *copy)
{
	free(copy->bytes);
	*copy = (struct frame_copy){0};
}
