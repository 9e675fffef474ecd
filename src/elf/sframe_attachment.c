/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/sframe_attachment.h"

#include <errno.h>
#include <string.h>

#include "base/file_range.h"
#include "core/refusal.h"
#include "elf/gnu_sframe.h"

#define ALIGNMENT 8
#define NONE SIZE_MAX
/* Offsets that can be added and subtracted without thought. */
#define FAR ((uint64_t)1 << 60)
/* Addresses that a new segment needs at least: kernels end two gigabytes below the top. */
#define LEAST_ROOM ((uint64_t)1 << 24)

static const char section_name[] = ".sframe";

static bool overlap(uint64_t a, uint64_t a_end, uint64_t b, uint64_t b_end)
{
	return a < b_end && b < a_end;
}

static uint64_t file_end(const Elf64_Phdr *segment)
{
	return segment->p_offset + segment->p_filesz;
}

static uint64_t table_end(const struct elf_headers *headers, size_t count)
{
	return headers->file.e_phoff + count * sizeof(*headers->segments);
}

static uint64_t section_table_size(const struct elf_headers *headers)
{
	return headers->section_count * sizeof(*headers->sections);
}

static bool has_bytes(const Elf64_Shdr *section)
{
	return section->sh_type != SHT_NULL && section->sh_type != SHT_NOBITS && section->sh_size;
}

/* The largest page that Linux knows on the architecture. */
static uint64_t page_size(const struct bobbin_arch *arch)
{
	return arch->elf_machine == EM_AARCH64 ? 65536 : 4096;
}

static size_t last_load(const struct elf_headers *headers)
{
	size_t last = NONE;

	for (size_t i = 0; i < headers->segment_count; i++)
		if (headers->segments[i].p_type == PT_LOAD)
			last = i;
	return last;
}

static const Elf64_Phdr *first_load(const struct elf_headers *headers)
{
	const Elf64_Phdr *segment = headers->segments;

	while (segment->p_type != PT_LOAD)
		segment++;
	return segment;
}

/* The section that is there already, NONE, or -EBADMSG if there are several. */
static int find_section(const struct elf_headers *headers, struct bobbin_error *err, size_t *ret)
{
	size_t found = NONE;

	for (size_t i = 1; i < headers->section_count; i++) {
		const Elf64_Shdr *s = &headers->sections[i];

		if (s->sh_type != SHT_GNU_SFRAME &&
		    (!(s->sh_flags & SHF_ALLOC) ||
		     strcmp(elf_headers_name(headers, i), section_name)))
			continue;
		if (found != NONE || i == headers->names_index)
			return refuse(err, headers->file.e_shoff + i * sizeof(*s),
				      BOBBIN_REASON_ELF_BROKEN);
		found = i;
	}
	*ret = found;
	return 0;
}

/* Whether bytes [start, end) are part of a section other than @but, or section headers. */
static bool sections_use(const struct elf_headers *headers, uint64_t start, uint64_t end,
			 size_t but)
{
	uint64_t table = headers->file.e_shoff, size = section_table_size(headers);

	if (size && overlap(table, table + size, start, end))
		return true;
	for (size_t i = 1; i < headers->section_count; i++) {
		const Elf64_Shdr *s = &headers->sections[i];

		if (i != but && has_bytes(s) &&
		    overlap(s->sh_offset, s->sh_offset + s->sh_size, start, end))
			return true;
	}
	return false;
}

/* The same for segments that say what the bytes are. */
static bool segments_use(const struct elf_headers *headers, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < headers->segment_count; i++) {
		const Elf64_Phdr *p = &headers->segments[i];

		if (p->p_type != PT_NULL && p->p_type != PT_LOAD && p->p_type != PT_PHDR &&
		    p->p_type != PT_GNU_SFRAME && p->p_filesz &&
		    overlap(p->p_offset, file_end(p), start, end))
			return true;
	}
	return false;
}

/* Whether @load has the section and program headers, and nothing else. */
static bool holds_only_ours(const struct elf_headers *headers, const Elf64_Phdr *load,
			    size_t section)
{
	uint64_t table = headers->file.e_phoff, unknown;
	const Elf64_Phdr *p = headers->segments, *end = p + headers->segment_count;

	while (p < end && p->p_type != PT_GNU_SFRAME)
		p++;
	if (p == end || file_end(p) != file_end(load) || p->p_offset < load->p_offset ||
	    p->p_vaddr - load->p_vaddr != p->p_offset - load->p_offset ||
	    load->p_offset < sizeof(headers->file))
		return false;
	unknown = p->p_offset - load->p_offset;
	if (table >= load->p_offset && table_end(headers, headers->segment_count) <= p->p_offset)
		unknown -= headers->segment_count * sizeof(*p);
	/* strip(1) may leave a gap, which only section headers prove to be empty */
	if (!headers->section_count && unknown >= ALIGNMENT)
		return false;
	return !sections_use(headers, load->p_offset, file_end(load), section) &&
	       !segments_use(headers, load->p_offset, file_end(load));
}

/* The segment that an earlier attachment made, or NONE. */
static size_t find_attachment(const struct elf_headers *headers, size_t section)
{
	size_t last = last_load(headers);
	const Elf64_Phdr *load = &headers->segments[last];

	if (load == first_load(headers) || load->p_flags != PF_R ||
	    load->p_filesz != load->p_memsz || !holds_only_ours(headers, load, section))
		return NONE;
	return last;
}

/* Go over a part of the file that must follow what was seen so far. */
static bool follows(uint64_t *position, uint64_t offset, uint64_t size)
{
	if (offset < *position || offset - *position >= 2 * ALIGNMENT)
		return false;
	*position = offset + size;
	return true;
}

/* Whether all from @load to the end of the file is written anew. */
static bool ends_file(const struct elf_headers *headers, const Elf64_Phdr *load)
{
	uint64_t position = file_end(load);

	if (headers->section_count) {
		const Elf64_Shdr *names = &headers->sections[headers->names_index];

		for (size_t i = 1; i < headers->section_count; i++)
			if (i != headers->names_index && has_bytes(&headers->sections[i]) &&
			    headers->sections[i].sh_offset + headers->sections[i].sh_size >
				    position)
				return false;
		if (headers->names_index && names->sh_offset >= position &&
		    !follows(&position, names->sh_offset, names->sh_size))
			return false;
		if (!follows(&position, headers->file.e_shoff, section_table_size(headers)))
			return false;
	}
	for (size_t i = 0; i < headers->segment_count; i++) {
		const Elf64_Phdr *p = &headers->segments[i];

		if (p->p_type == PT_LOAD && p != load && p->p_filesz &&
		    file_end(p) > load->p_offset)
			return false;
	}
	return !segments_use(headers, load->p_offset, UINT64_MAX) && position == headers->file_size;
}

/* Take out what is replaced and what says nothing. */
static void drop_segments(struct elf_headers *headers, size_t attachment)
{
	size_t kept = 0;

	for (size_t i = 0; i < headers->segment_count; i++) {
		const Elf64_Phdr *p = &headers->segments[i];

		if (i != attachment && p->p_type != PT_NULL && p->p_type != PT_GNU_SFRAME)
			headers->segments[kept++] = *p;
	}
	headers->segment_count = kept;
}

static void add_segments(struct sframe_attachment *a)
{
	struct elf_headers *headers = &a->headers;
	size_t load = last_load(headers) + 1;

	memmove(&headers->segments[load + 1], &headers->segments[load],
		(headers->segment_count - load) * sizeof(*headers->segments));
	a->load = load;
	a->sframe = headers->segment_count + 1;
	headers->segment_count += 2;
	headers->segments[a->load] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R,
		.p_align = page_size(a->arch),
	};
	headers->segments[a->sframe] = (Elf64_Phdr){
		.p_type = PT_GNU_SFRAME,
		.p_flags = PF_R,
		.p_align = ALIGNMENT,
	};
}

static int all_zero(int fd, uint64_t start, uint64_t end, bool *ret)
{
	uint8_t bytes[4 * sizeof(Elf64_Phdr)];
	size_t size = (size_t)(end - start);
	int r = file_range_read(fd, start, bytes, size);

	*ret = !r;
	for (size_t i = 0; i < size && *ret; i++)
		*ret = !bytes[i];
	return r;
}

/*
 * Whether the table of @old entries may become that of @headers in its place:
 * nothing else is there, what follows is padding, and is loaded if the table is.
 */
static int stays(const struct sframe_attachment *a, size_t old, bool *ret)
{
	const struct elf_headers *headers = &a->headers;
	uint64_t table = headers->file.e_phoff, start = table_end(headers, old);
	uint64_t end = table_end(headers, headers->segment_count);

	*ret = false;
	/* only section headers tell what is used */
	if (start > a->kept || end > a->kept || (end > start && !headers->section_count))
		return 0;
	if (sections_use(headers, table, end, NONE) || segments_use(headers, table, end))
		return 0;
	for (size_t i = 0; i < headers->segment_count; i++) {
		const Elf64_Phdr *p = &headers->segments[i];

		if (p->p_type == PT_LOAD && overlap(p->p_offset, file_end(p), table, end) &&
		    (p->p_offset > table || file_end(p) < end))
			return 0;
	}
	*ret = end <= start;
	return *ret ? 0 : all_zero(a->fd, start, end, ret);
}

/* Find address and offset of the new segment, after everything. */
static int place_segment(struct sframe_attachment *a, struct bobbin_error *err)
{
	const struct elf_headers *headers = &a->headers;
	const Elf64_Phdr *first = first_load(headers), *last = &headers->segments[a->load - 1];
	uint64_t page = page_size(a->arch), addr, end, distance, offset, equal;

	while (last->p_type != PT_LOAD)
		last--;
	if (__builtin_add_overflow(last->p_vaddr, last->p_memsz, &end) || ~end < LEAST_ROOM ||
	    a->kept > FAR || first->p_offset > FAR)
		return refuse_as(-ENOTSUP, err, headers->file.e_phoff, BOBBIN_REASON_ELF_FULL);
	/* a page stays free for strip(1), see the header */
	addr = elf_round_up(end, page) + page;
	offset = elf_round_up(a->kept, page);

	/* an offset, unless segments do not ascend: then it is far from any */
	distance = first->p_vaddr - first->p_offset;
	equal = addr - distance;
	if (a->moved && !(distance & (page - 1)) && equal < 2 * FAR) {
		if (equal < offset && offset - equal <= SFRAME_ATTACHMENT_REACH &&
		    offset - equal + LEAST_ROOM < ~addr)
			addr += offset - equal;
		else if (equal > offset && equal - offset <= SFRAME_ATTACHMENT_GAP)
			offset = equal;
	}
	a->segment_addr = addr;
	a->segment_offset = offset;
	return 0;
}

/* Let e_phoff and PT_PHDR tell where the table is and how long. */
static void place_table(struct sframe_attachment *a)
{
	struct elf_headers *headers = &a->headers;
	uint64_t size = headers->segment_count * sizeof(*headers->segments);

	if (a->moved)
		headers->file.e_phoff = a->segment_offset;
	for (size_t i = 0; i < headers->segment_count; i++) {
		Elf64_Phdr *p = &headers->segments[i];

		if (p->p_type != PT_PHDR)
			continue;
		p->p_filesz = p->p_memsz = size;
		if (!a->moved)
			continue;
		p->p_offset = a->segment_offset;
		p->p_vaddr = p->p_paddr = a->segment_addr;
	}
	a->offset = a->segment_offset + (a->moved ? elf_round_up(size, ALIGNMENT) : 0);
	a->addr = a->segment_addr + (a->offset - a->segment_offset);
}

/* Make or reuse the section's header; after all others, so that no index changes. */
static void place_section(struct sframe_attachment *a, size_t section)
{
	struct elf_headers *headers = &a->headers;

	if (!headers->section_count) {
		headers->file.e_shoff = 0;
		headers->file.e_shnum = 0;
		headers->file.e_shstrndx = SHN_UNDEF;
		return;
	}
	a->section = section == NONE ? headers->section_count++ : section;
	headers->sections[a->section] = (Elf64_Shdr){
		.sh_name = headers->names_index ? elf_headers_add_name(headers, section_name) : 0,
		.sh_type = SHT_GNU_SFRAME,
		.sh_flags = SHF_ALLOC,
		.sh_addr = a->addr,
		.sh_offset = a->offset,
		.sh_addralign = ALIGNMENT,
	};
}

static int check_table_segment(const struct elf_headers *headers, struct bobbin_error *err)
{
	for (size_t i = 0; i < headers->segment_count; i++)
		if (headers->segments[i].p_type == PT_PHDR &&
		    headers->segments[i].p_offset != headers->file.e_phoff)
			return refuse(err, table_end(headers, i), BOBBIN_REASON_ELF_BROKEN);
	return 0;
}

static int plan(struct sframe_attachment *a, struct bobbin_error *err)
{
	struct elf_headers *headers = &a->headers;
	size_t section, attachment, old_count = headers->segment_count;
	bool fits;
	int r = check_table_segment(headers, err);

	if (!r)
		r = find_section(headers, err, &section);
	if (r)
		return r;
	attachment = find_attachment(headers, section);
	a->kept = headers->file_size;
	if (attachment != NONE) {
		const Elf64_Phdr *load = &headers->segments[attachment];

		/* what it holds will no longer be loaded */
		a->moved = headers->file.e_phoff >= load->p_offset;
		if (ends_file(headers, load))
			a->kept = load->p_offset;
	}
	drop_segments(headers, attachment);
	add_segments(a);
	if (headers->segment_count > ELF_HEADERS_MAX_SEGMENTS)
		return refuse_as(-ENOTSUP, err, offsetof(Elf64_Ehdr, e_phnum),
				 BOBBIN_REASON_ELF_FULL);
	r = stays(a, old_count, &fits);
	if (r)
		return r;
	a->moved |= !fits;
	r = place_segment(a, err);
	if (r)
		return r;
	place_table(a);
	place_section(a, section);
	return 0;
}

int sframe_attachment_init(int fd, struct bobbin_error *err, struct sframe_attachment *ret)
{
	struct sframe_attachment a = {.fd = fd};
	int r = elf_headers_init(fd, false, err, &a.headers);

	if (r)
		return r;
	a.arch = a.headers.arch;
	r = plan(&a, err);
	if (r)
		elf_headers_fini(&a.headers);
	else
		*ret = a;
	return r;
}

/* Fill in all that depends on the section's size. */
static void set_size(struct sframe_attachment *a, uint64_t size)
{
	struct elf_headers *headers = &a->headers;
	Elf64_Phdr *load = &headers->segments[a->load], *sframe = &headers->segments[a->sframe];
	uint64_t end = a->offset + size;

	load->p_offset = a->segment_offset;
	load->p_vaddr = load->p_paddr = a->segment_addr;
	load->p_filesz = load->p_memsz = end - a->segment_offset;
	sframe->p_offset = a->offset;
	sframe->p_vaddr = sframe->p_paddr = a->addr;
	sframe->p_filesz = sframe->p_memsz = size;
	if (!a->section)
		return;
	headers->sections[a->section].sh_size = size;
	if (headers->names_index) {
		headers->sections[headers->names_index].sh_offset = end;
		headers->sections[headers->names_index].sh_size = headers->names_size;
		end += headers->names_size;
	}
	headers->file.e_shoff = elf_round_up(end, ALIGNMENT);
}

int sframe_attachment_write(struct sframe_attachment *attachment, const void *section,
			    uint64_t size, int out_fd)
{
	const struct elf_headers *headers = &attachment->headers;
	int r;

	if (!size)
		return -EINVAL;
	if (size > SFRAME_ATTACHMENT_MAX || size > UINT64_MAX - attachment->addr)
		return -EFBIG;
	set_size(attachment, size);
	r = file_range_copy(attachment->fd, out_fd, attachment->kept);
	if (!r)
		r = file_range_write(out_fd, attachment->offset, section, size);
	if (!r && headers->names_index)
		r = file_range_write(out_fd, attachment->offset + size, headers->names,
				     headers->names_size);
	return r ? r : elf_headers_write(headers, out_fd);
}

void sframe_attachment_fini(struct sframe_attachment *attachment)
{
	elf_headers_fini(&attachment->headers);
	*attachment = (struct sframe_attachment){.fd = -1};
}
