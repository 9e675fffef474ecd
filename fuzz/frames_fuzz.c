/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as .eh_frame in the own memory, where nobody says how many there are.
 *
 *	bytes | offset of what is registered (2 bytes, little-endian)
 *
 * The bytes end where memory ends.  Contract: what is copied is what is there, up
 * to a terminator or with a mark; what was registered can be taken back, and
 * nothing else; no more is lost than there is; results are untouched on failure.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bobbin/frames.h>

#include "frames/frame_copy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PLACE_SIZE (1u << 20)
#define GUARD_SIZE 65536u

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* The bytes, before memory that cannot be read. */
static const uint8_t *place(const uint8_t *data, size_t size)
{
	static uint8_t *end;

	if (!end) {
		uint8_t *start = mmap(NULL, PLACE_SIZE + GUARD_SIZE, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		must(start != MAP_FAILED);
		end = start + PLACE_SIZE;
		must(!mprotect(end, GUARD_SIZE, PROT_NONE));
	}
	return memcpy(end - size, data, size);
}

static void check_copy(const uint8_t *begin, size_t size)
{
	struct frame_copy copy = {.addr = 99};
	int r = frame_copy_init((uintptr_t)begin, &copy);

	if (r) {
		must(r == -ENODATA || r == -EFAULT || r == -EBADMSG);
		must(copy.addr == 99 && !copy.bytes);
		return;
	}
	must(copy.addr <= (uintptr_t)begin);
	must(copy.addr + copy.size <= (uintptr_t)begin + size);
	if (copy.addr == (uintptr_t)begin) {
		must(!memcmp(copy.bytes, begin, copy.size));
		must(copy.cut ||
		     (size - copy.size >= 4 && !memcmp(begin + copy.size, "\0\0\0", 4)));
	}
	frame_copy_fini(&copy);
}

static void check_registration(const uint8_t *begin)
{
	struct bobbin_frames_result result = {.cut = 99};
	int r = bobbin_frames_register(begin, &result);

	if (r) {
		must(r < 0 && r != -EEXIST && r != -EINVAL && result.cut == 99);
		must(bobbin_frames_unregister(begin) == -ENOENT);
		return;
	}
	must(result.cut <= 1 && result.lost_functions <= result.functions);
	must(bobbin_frames_unregister(begin) == 0);
	must(bobbin_frames_unregister(begin) == -ENOENT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t offset;

	if (size < 2 || size - 2 > PLACE_SIZE)
		return 0;
	size -= 2;
	offset = data[size] | (size_t)data[size + 1] << 8;
	if (offset > size)
		return 0;
	check_copy(place(data, size) + offset, size - offset);
	check_registration(place(data, size) + offset);
	return 0;
}
