/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/packed_section.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "core/bytes.h"
#include "core/refusal.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif
/* Bytes of a byte, at most: what zlib can reach, and no call-frame information does. */
#define MAX_RATIO 1032
/* "ZLIB" and the size. */
#define GNU_HEADER 12

static const char gnu_prefix[] = ".zdebug_";

bool packed_section_is(const GElf_Shdr *header, const char *name)
{
	return header->sh_flags & SHF_COMPRESSED ||
	       !strncmp(name, gnu_prefix, sizeof(gnu_prefix) - 1);
}

/* What a sane section can become. */
static bool is_sane(uint64_t packed, uint64_t unpacked, uint64_t limit)
{
	return unpacked && unpacked <= limit && unpacked / MAX_RATIO <= packed;
}

static int unpack_zlib(Elf_Scn *section, bool gnu, uint8_t **ret, uint64_t *size)
{
	int r = gnu ? elf_compress_gnu(section, 0, 0) : elf_compress(section, 0, 0);
	Elf_Data *data = r < 0 ? NULL : elf_rawdata(section, NULL);
	uint8_t *bytes;

	if (!data || !data->d_size)
		return -EBADMSG;
	bytes = malloc(data->d_size);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, data->d_buf, data->d_size);
	*ret = bytes;
	*size = data->d_size;
	return 0;
}

static int unpack_zstd(Elf_Scn *section, uint64_t unpacked, uint8_t **ret, uint64_t *size)
{
	Elf_Data *data = elf_rawdata(section, NULL);
	uint8_t *bytes;
	size_t got;

	if (!data || data->d_size < sizeof(Elf64_Chdr))
		return -EBADMSG;
	bytes = malloc(unpacked);
	if (!bytes)
		return -ENOMEM;
	got = ZSTD_decompress(bytes, unpacked, (uint8_t *)data->d_buf + sizeof(Elf64_Chdr),
			      data->d_size - sizeof(Elf64_Chdr));
	if (ZSTD_isError(got) || got != unpacked) {
		free(bytes);
		return -EBADMSG;
	}
	*ret = bytes;
	*size = unpacked;
	return 0;
}

static int unpack_gnu(Elf_Scn *section, uint64_t limit, uint8_t **ret, uint64_t *size)
{
	Elf_Data *data = elf_rawdata(section, NULL);
	struct bytes b;

	if (!data || data->d_size < GNU_HEADER || memcmp(data->d_buf, "ZLIB", 4))
		return -EBADMSG;
	b = bytes_of(data->d_buf, data->d_size, true);
	bytes_seek(&b, 4);
	if (!is_sane(data->d_size, bytes_u64(&b), limit))
		return -EBADMSG;
	return unpack_zlib(section, true, ret, size);
}

static int unpack(Elf_Scn *section, const GElf_Shdr *header, uint64_t limit, uint8_t **ret,
		  uint64_t *size)
{
	GElf_Chdr packed;

	if (!(header->sh_flags & SHF_COMPRESSED))
		return unpack_gnu(section, limit, ret, size);
	if (!gelf_getchdr(section, &packed) || !is_sane(header->sh_size, packed.ch_size, limit))
		return -EBADMSG;
	if (packed.ch_type == ELFCOMPRESS_ZLIB)
		return unpack_zlib(section, false, ret, size);
	if (packed.ch_type == ELFCOMPRESS_ZSTD)
		return unpack_zstd(section, packed.ch_size, ret, size);
	return -EBADMSG;
}

int packed_section_read(Elf_Scn *section, uint64_t limit, struct bobbin_error *err, uint8_t **ret,
			uint64_t *size)
{
	GElf_Shdr header;
	int r;

	if (!gelf_getshdr(section, &header))
		return refuse(err, 0, BOBBIN_REASON_ELF_BROKEN);
	r = unpack(section, &header, limit, ret, size);
	if (r != -EBADMSG)
		return r;
	/* what the file does not hold is nowhere in it */
	return refuse(err, elf_rawdata(section, NULL) ? header.sh_offset : 0,
		      BOBBIN_REASON_ELF_PACKED);
}
