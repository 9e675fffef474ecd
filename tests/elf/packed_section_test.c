/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compressed call-frame information: it is read, or refused if it is too large unpacked.
 */
#include <errno.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "elf/elf_image.h"

#define CONTENTS 4096
#define ROOM (1 << 16)

/**
 * struct packed - a compressed .debug_frame, to be changed before it is written
 * @data, @machine: of the file
 * @name: of the section
 * @flags: of it
 * @type, @unpacked: what its header says
 * @bytes, @size: what follows
 */
struct packed {
	unsigned char data;
	uint16_t machine;
	const char *name;
	uint64_t flags, unpacked;
	uint32_t type;
	uint8_t bytes[ROOM];
	size_t size;
};

static uint8_t contents[CONTENTS];

static struct packed packed(void)
{
	struct packed p = {
		.data = ELFDATA2LSB,
		.machine = EM_X86_64,
		.name = ".debug_frame",
		.flags = SHF_COMPRESSED,
		.type = 2,
		.unpacked = CONTENTS,
	};

	for (size_t i = 0; i < CONTENTS; i++)
		contents[i] = (uint8_t)(i * i >> 4);
	p.size = ZSTD_compress(p.bytes, ROOM, contents, CONTENTS, 3);
	assert_false(ZSTD_isError(p.size));
	return p;
}

/* The section's bytes with their header, in the file's byte order. */
static size_t encode(const struct packed *p, uint8_t *ret)
{
	Elf64_Chdr header = {.ch_type = p->type, .ch_size = p->unpacked, .ch_addralign = 8};
	Elf_Data from = {.d_buf = &header,
			 .d_type = ELF_T_CHDR,
			 .d_size = sizeof(header),
			 .d_version = EV_CURRENT};
	Elf_Data to = {.d_buf = ret, .d_size = sizeof(header), .d_version = EV_CURRENT};

	if (!(p->flags & SHF_COMPRESSED)) {
		memcpy(ret, p->bytes, p->size);
		return p->size;
	}
	assert_non_null(elf64_xlatetof(&to, &from, p->data));
	memcpy(ret + sizeof(header), p->bytes, p->size);
	return sizeof(header) + p->size;
}

static void put_section(Elf *elf, uint32_t name, uint32_t type, uint64_t flags, void *bytes,
			size_t size)
{
	Elf_Scn *section = elf_newscn(elf);
	Elf_Data *data = elf_newdata(section);
	GElf_Shdr header;

	*data = (Elf_Data){.d_buf = bytes,
			   .d_type = ELF_T_BYTE,
			   .d_size = size,
			   .d_align = 1,
			   .d_version = EV_CURRENT};
	gelf_getshdr(section, &header);
	header.sh_name = name;
	header.sh_type = type;
	header.sh_flags = flags;
	gelf_update_shdr(section, &header);
}

static int write_file(const struct packed *p)
{
	char names[64] = "";
	uint8_t bytes[ROOM + sizeof(Elf64_Chdr)];
	size_t size = encode(p, bytes);
	int fd = memfd_create("packed", 0);
	Elf64_Ehdr *header;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_WRITE, NULL);
	header = elf64_newehdr(elf);
	assert_non_null(header);
	header->e_ident[EI_DATA] = p->data;
	header->e_type = ET_DYN;
	header->e_machine = p->machine;
	header->e_shstrndx = 2;
	strcpy(names + 1, p->name);
	put_section(elf, 1, SHT_PROGBITS, p->flags, bytes, size);
	put_section(elf, 0, SHT_STRTAB, 0, names, sizeof(names));
	assert_true(elf_update(elf, ELF_C_WRITE) > 0);
	elf_end(elf);
	return fd;
}

static struct elf_image image_of(const struct packed *p)
{
	struct elf_image image;
	int fd = write_file(p);

	assert_int_equal(elf_image_init(fd, NULL, &image), 0);
	close(fd);
	return image;
}

static void assert_read(const struct packed *p)
{
	struct elf_image image = image_of(p);

	assert_int_equal(image.unread.reason, BOBBIN_REASON_NONE);
	assert_int_equal(image.debug_frame.size, CONTENTS);
	assert_memory_equal(image.debug_frame.data, contents, CONTENTS);
	elf_image_fini(&image);
}

static void assert_unread(const struct packed *p)
{
	struct elf_image image = image_of(p);

	assert_null(image.debug_frame.data);
	assert_int_equal(image.unread.reason, BOBBIN_REASON_ELF_PACKED);
	assert_int_equal(image.unread.offset, sizeof(Elf64_Ehdr));
	elf_image_fini(&image);
}

static void zstd_is_read(void **state)
{
	struct packed p = packed();

	assert_read(&p);
	p.data = ELFDATA2MSB;
	p.machine = EM_S390;
	assert_read(&p);
}

static void sizes_that_lie_are_told(void **state)
{
	struct packed p = packed();

	for (p.unpacked = 0; p.unpacked < 2 * CONTENTS; p.unpacked += CONTENTS - 1)
		assert_unread(&p);
	p.unpacked = CONTENTS + 1;
	assert_unread(&p);
	p.unpacked = UINT64_MAX;
	assert_unread(&p);
}

static void bombs_are_not_unpacked(void **state)
{
	const uint64_t gigabyte = (uint64_t)1 << 30;
	uint8_t *zeros = calloc(1, gigabyte / 4);
	struct packed p = packed();

	assert_non_null(zeros);
	p.size = ZSTD_compress(p.bytes, ROOM, zeros, gigabyte / 4, 1);
	free(zeros);
	assert_false(ZSTD_isError(p.size));
	p.unpacked = gigabyte / 4;
	assert_unread(&p);
	p.unpacked = gigabyte + 1;
	assert_unread(&p);
}

/* A file whose sections are larger than the room is not kept at all. */
static void sections_are_within_the_room(void **state)
{
	struct packed p = packed();
	struct elf_image image;
	int fd = write_file(&p);

	assert_int_equal(elf_image_init_within(fd, CONTENTS - 1, NULL, &image), -ENOBUFS);
	assert_int_equal(elf_image_init_within(fd, CONTENTS, NULL, &image), 0);
	assert_int_equal(elf_image_copied(&image), CONTENTS);
	elf_image_fini(&image);
	close(fd);
	p.flags = 0;
	fd = write_file(&p);
	assert_int_equal(elf_image_init_within(fd, sizeof(Elf64_Chdr), NULL, &image), -ENOBUFS);
	assert_int_equal(elf_image_init_within(fd, ROOM, NULL, &image), 0);
	elf_image_fini(&image);
	close(fd);
}

static void damage_is_told(void **state)
{
	struct packed sound = packed(), p;

	p = sound;
	memset(p.bytes, 0, 4);
	assert_unread(&p);
	for (p = sound; p.size; p.size /= 2) {
		p.size--;
		assert_unread(&p);
	}
}

static void other_ways_to_compress_are_told(void **state)
{
	static const uint32_t types[] = {0, 3, 0x60000000, UINT32_MAX};
	struct packed p = packed();

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		p.type = types[i];
		assert_unread(&p);
	}
	/* it is not zlib */
	p.type = ELFCOMPRESS_ZLIB;
	assert_unread(&p);
}

static void the_form_of_older_binutils_is_checked_too(void **state)
{
	struct packed p = packed();

	p.name = ".zdebug_frame";
	p.flags = 0;
	assert_unread(&p);
	p.size = 11;
	memcpy(p.bytes, "ZLIB\0\0\0\0\0\0\1", 11);
	assert_unread(&p);
	p.size = 32;
	memcpy(p.bytes, "ZLIB\0\0\0\0\0\0\1\0", 12);
	assert_unread(&p);
	memcpy(p.bytes, "ZLIB\377\377\377\377\377\377\377\377", 12);
	assert_unread(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zstd_is_read),
		cmocka_unit_test(sizes_that_lie_are_told),
		cmocka_unit_test(bombs_are_not_unpacked),
		cmocka_unit_test(sections_are_within_the_room),
		cmocka_unit_test(damage_is_told),
		cmocka_unit_test(other_ways_to_compress_are_told),
		cmocka_unit_test(the_form_of_older_binutils_is_checked_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
