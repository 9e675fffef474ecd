/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The defects of a file are named; a damaged file is refused or remains sound.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file_range.h"
#include "small_elf.h"

static void refused(struct small *s, int error, enum bobbin_reason reason, uint64_t offset)
{
	struct sframe_attachment plan;
	struct bobbin_error err;
	int fd = file_of_small(s);

	assert_int_equal(sframe_attachment_init(fd, &err, &plan), error);
	assert_string_equal(bobbin_reason_name(err.reason), bobbin_reason_name(reason));
	assert_int_equal(err.offset, offset);
	close(fd);
}

static void what_cannot_be_run_is_refused(void **state)
{
	struct small sound = small_file(EM_X86_64, ELFDATA2LSB), s = sound;

	s.file.e_type = ET_REL;
	refused(&s, -ENOTSUP, BOBBIN_REASON_ELF_TYPE, offsetof(Elf64_Ehdr, e_type));
	s.file.e_type = ET_CORE;
	refused(&s, -ENOTSUP, BOBBIN_REASON_ELF_TYPE, offsetof(Elf64_Ehdr, e_type));
	s = sound;
	s.file.e_phnum = 0;
	refused(&s, -ENOTSUP, BOBBIN_REASON_ELF_UNLOADED, offsetof(Elf64_Ehdr, e_phnum));
	s = sound;
	s.segments[1].p_type = s.segments[2].p_type = PT_NOTE;
	refused(&s, -ENOTSUP, BOBBIN_REASON_ELF_UNLOADED, offsetof(Elf64_Ehdr, e_phnum));
	s = sound;
	s.file.e_phnum = PN_XNUM;
	refused(&s, -ENOTSUP, BOBBIN_REASON_ELF_FULL, offsetof(Elf64_Ehdr, e_phnum));
	s = sound;
	s.segments[2].p_memsz = UINT64_MAX - s.segments[2].p_vaddr;
	refused(&s, -ENOTSUP, BOBBIN_REASON_ELF_FULL, s.file.e_phoff);
	s = sound;
	s.file.e_ident[0] = 0;
	refused(&s, -EBADMSG, BOBBIN_REASON_NOT_ELF, 0);
	s = sound;
	s.file.e_ident[EI_CLASS] = ELFCLASS32;
	refused(&s, -EBADMSG, BOBBIN_REASON_ELF_CLASS, EI_CLASS);
	s = sound;
	s.file.e_machine = EM_RISCV;
	refused(&s, -EBADMSG, BOBBIN_REASON_ELF_MACHINE, offsetof(Elf64_Ehdr, e_machine));
}

static void contradictions_are_refused(void **state)
{
	struct small sound = small_file(EM_X86_64, ELFDATA2LSB), s = sound;
	uint64_t second = s.file.e_phoff + sizeof(Elf64_Phdr);

	s.segments[1].p_filesz = SMALL_SIZE + 1;
	refused(&s, -EBADMSG, BOBBIN_REASON_TRUNCATED, second);
	s = sound;
	s.segments[1].p_offset = UINT64_MAX;
	refused(&s, -EBADMSG, BOBBIN_REASON_TRUNCATED, second);
	s = sound;
	s.segments[1].p_memsz = 1;
	refused(&s, -EBADMSG, BOBBIN_REASON_ELF_BROKEN, second);
	s = sound;
	s.segments[2].p_vaddr = SMALL_BASE;
	refused(&s, -EBADMSG, BOBBIN_REASON_ELF_BROKEN, second + sizeof(Elf64_Phdr));
	s = sound;
	s.segments[0].p_offset = 64;
	refused(&s, -EBADMSG, BOBBIN_REASON_ELF_BROKEN, s.file.e_phoff);
	s = sound;
	s.sections[2].sh_size = SMALL_SIZE;
	refused(&s, -EBADMSG, BOBBIN_REASON_TRUNCATED, SMALL_TABLE + 2 * sizeof(Elf64_Shdr));
	s = sound;
	s.sections[1].sh_type = s.sections[2].sh_type = SHT_SFRAME;
	refused(&s, -EBADMSG, BOBBIN_REASON_ELF_BROKEN, SMALL_TABLE + 2 * sizeof(Elf64_Shdr));
	s = sound;
	s.file.e_shstrndx = SMALL_SHDRS;
	refused(&s, -EBADMSG, BOBBIN_REASON_ELF_BROKEN, offsetof(Elf64_Ehdr, e_shstrndx));
}

static void only_regular_files_are_read(void **state)
{
	struct sframe_attachment plan;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(sframe_attachment_init(ends[0], NULL, &plan), -EINVAL);
	assert_int_equal(sframe_attachment_init(-1, NULL, &plan), -EBADF);
	close(ends[0]);
	close(ends[1]);
}

static void a_file_that_shrinks_meanwhile_is_an_error(void **state)
{
	struct small s = small_file(EM_X86_64, ELFDATA2LSB);
	int in = file_of_small(&s), out = file_of("", 0);
	struct sframe_attachment plan;

	assert_int_equal(sframe_attachment_init(in, NULL, &plan), 0);
	assert_int_equal(sframe_attachment_write(&plan, "", 0, out), -EINVAL);
	assert_int_equal(ftruncate(in, SMALL_SIZE - 1), 0);
	assert_int_equal(sframe_attachment_write(&plan, "x", 1, out), -EIO);
	sframe_attachment_fini(&plan);
	close(in);
	close(out);
}

/* Damage that is not refused makes a sound file of bounded size, and does so again. */
static bool survives(const uint8_t *bytes, size_t size)
{
	struct sframe_attachment plan;
	uint64_t bound = size + 100 + 2 * 65536 + 2 * size + (1 << 20), once;
	struct bobbin_error err = {0};
	int in = file_of(bytes, size), out;

	if (sframe_attachment_init(in, &err, &plan)) {
		assert_int_not_equal(err.reason, BOBBIN_REASON_NONE);
		close(in);
		return false;
	}
	sframe_attachment_fini(&plan);
	out = attach(in, 100, 7, &plan);
	once = size_of(out);
	assert_true(once <= bound);
	if (sframe_attachment_init(out, &err, &plan))
		fail_msg("what was written is refused: %s at %llu", bobbin_reason_name(err.reason),
			 (unsigned long long)err.offset);
	sframe_attachment_fini(&plan);
	out = attach(out, 100, 7, &plan);
	assert_true(size_of(out) <= bound + 2 * 65536 + size);
	close(out);
	return true;
}

static void damage_every_byte(struct small *s, unsigned int *refusals, unsigned int *survivals)
{
	static const uint8_t flips[] = {0x01, 0x80, 0xff, 0x10};

	encode_headers(s);
	for (size_t i = 0; i < s->size; i++) {
		/* not headers */
		if (i >= SMALL_TEXT && i < SMALL_NAMES)
			continue;
		for (size_t k = 0; k < sizeof(flips); k++) {
			s->bytes[i] ^= flips[k];
			*(survives(s->bytes, s->size) ? survivals : refusals) += 1;
			s->bytes[i] ^= flips[k];
		}
	}
}

static void damage_is_refused_or_survived(void **state)
{
	unsigned int refusals = 0, survivals = 0;

	for (int room = 0; room < 2; room++) {
		struct small s = small_file(EM_X86_64, ELFDATA2LSB);

		if (room)
			make_room(&s);
		damage_every_byte(&s, &refusals, &survivals);
		s = small_file(EM_S390, ELFDATA2MSB);
		damage_every_byte(&s, &refusals, &survivals);
	}
	print_message("%u refused, %u survived\n", refusals, survivals);
	assert_true(refusals > 1000 && survivals > 1000);
}

/* The same for a file that has an attachment, whose parts are looked for. */
static void a_damaged_attachment_is_refused_or_survived(void **state)
{
	struct small s = small_file(EM_X86_64, ELFDATA2LSB);
	unsigned int refusals = 0, survivals = 0;
	struct sframe_attachment plan;
	int fd = attach(file_of_small(&s), 200, 7, &plan);
	size_t size = size_of(fd);
	uint8_t *bytes = malloc(size);

	assert_non_null(bytes);
	assert_int_equal(file_range_read(fd, 0, bytes, size), 0);
	for (size_t i = 0; i < size; i++) {
		if (i == sizeof(Elf64_Ehdr))
			i = plan.segment_offset;
		bytes[i] ^= 0x81;
		*(survives(bytes, size) ? &survivals : &refusals) += 1;
		bytes[i] ^= 0x81;
	}
	print_message("%u refused, %u survived\n", refusals, survivals);
	assert_true(refusals > 100 && survivals > 100);
	free(bytes);
	close(fd);
}

static void a_cut_file_is_refused_or_survived(void **state)
{
	struct small s = small_file(EM_X86_64, ELFDATA2LSB);

	encode_headers(&s);
	for (size_t size = 0; size < SMALL_SIZE; size++)
		assert_false(survives(s.bytes, size));
	assert_true(survives(s.bytes, SMALL_SIZE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_run_is_refused),
		cmocka_unit_test(contradictions_are_refused),
		cmocka_unit_test(only_regular_files_are_read),
		cmocka_unit_test(a_file_that_shrinks_meanwhile_is_an_error),
		cmocka_unit_test(damage_is_refused_or_survived),
		cmocka_unit_test(a_damaged_attachment_is_refused_or_survived),
		cmocka_unit_test(a_cut_file_is_refused_or_survived),
	};

	return cmocka_run_group_tests_name("attachment damage", tests, NULL, NULL);
}
