/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/sframe_sections.h"

#include <gelf.h>
#include <string.h>

#include "base/vector.h"
#include "core/bisect.h"

static void free_section(struct sframe_section *section)
{
	free(section->name);
	free(section->image);
	free(section->data);
	free(section->targets);
}

int sframe_file_add(struct sframe_file *file, const char *name, const char *image,
		    struct sframe_section section)
{
	section.name = strdup(name);
	section.image = image ? strdup(image) : NULL;
	if (!section.name || (image && !section.image) ||
	    vector_push(file->sections, file->section_count, file->section_capacity, section)) {
		free_section(&section);
		return -ENOMEM;
	}
	return 0;
}

int sframe_file_miss(struct sframe_file *file, const char *image, uint64_t addr)
{
	char *copy = strdup(image);

	if (!copy || vector_push(file->absences, file->absence_count, file->absence_capacity,
				 (struct sframe_absence){copy, addr})) {
		free(copy);
		return -ENOMEM;
	}
	return 0;
}

int sframe_section_next(const struct sframe_section *section, uint64_t *pos,
			struct bobbin_error *err, struct bobbin_sframe_view *ret)
{
	int r = bobbin_sframe_next(section->data, section->size, section->addr, pos, err, ret);

	if (r > 0 && section->relocated)
		ret->flags |= BOBBIN_SFRAME_PCREL;
	return r;
}

const struct sframe_target *sframe_section_target(const struct sframe_section *section,
						  uint64_t field)
{
	const struct sframe_target *all = section->targets;
	size_t at = bisect(i, 0, section->target_count, all[i].field >= field);

	return at < section->target_count && all[at].field == field ? &all[at] : NULL;
}

void sframe_file_fini(struct sframe_file *file)
{
	for (size_t i = 0; i < file->section_count; i++)
		free_section(&file->sections[i]);
	for (size_t i = 0; i < file->absence_count; i++)
		free(file->absences[i].image);
	free(file->sections);
	coverage_fini(&file->code);
	free(file->absences);
	elf_end(file->elf);
	*file = (struct sframe_file){0};
}
