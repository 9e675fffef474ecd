/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * packed_rules.h - the packed rule for an address: among those that the CPU has kept, or by the tables
 * of what is mapped there.
 */
#ifndef BOBBIN_PACKED_RULES_H
#define BOBBIN_PACKED_RULES_H

/* Whether the code's bytes contradict its table, or cannot be read. */
BOBBIN_STAGE __attribute__((flatten)) int replaces_frame(uint32_t number, uint64_t pc)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);

	return !s ||
	       bpf_probe_read_user(s->code, sizeof(s->code),
				   (const void *)(pc - EH_RETURN_BEFORE)) ||
	       eh_return_code(BOBBIN_NATIVE_ARCH(), s->code);
}

/* enum code_answer: whether a function that returns to an address ends its thread or fiber */
BOBBIN_STAGE __attribute__((flatten)) int ends_at(uint64_t pc)
{
	uint8_t code[ROOT_CODE_AROUND];

	if (bpf_probe_read_user(code, sizeof(code), (const void *)(pc - ROOT_CODE_BEFORE)))
		return CODE_UNREADABLE;
	return root_code(BOBBIN_NATIVE_ARCH(), code) ? CODE_YES : CODE_NO;
}

static BOBBIN_ALWAYS_INLINE bool is_syscall(const uint8_t code[2])
{
	return code[0] == 0x0f && code[1] == 0x05;
}

/* Whether user space knows code without a table by its bytes, or they cannot be read. */
BOBBIN_STAGE int is_known_code(uint64_t pc)
{
	uint8_t code[32];

	if (bpf_probe_read_user(code, sizeof(code), (const void *)(pc - 8)))
		return true;
	/* syscall: restorers have one, and after one other rules hold */
	for (unsigned int i = 0; i + 1 < sizeof(code); i++)
		if (is_syscall(code + i))
			return true;
	return ends_at(pc + 1) != CODE_NO;
}

static BOBBIN_ALWAYS_INLINE uint64_t entry_word(struct walk_state *s)
{
	s->source = BOBBIN_SOURCE_ENTRY;
	return outermost_word;
}

/* No table covers the code: it is a root, or what its bytes and the stack say decides. */
static BOBBIN_ALWAYS_INLINE uint64_t resort_word(struct walk_state *s,
						 const struct kernel_file *file, uint64_t pc,
						 uint64_t vaddr)
{
	s->source = BOBBIN_SOURCE_NONE;
	if (!file->resort)
		return 0;
	if ((file->first && vaddr - file->first < file->first_size) || ends_at(pc + 1) == CODE_YES)
		return entry_word(s);
	s->next_file = KERNEL_RECORD;
	return 0;
}

/* Whether a JIT table has more entries than its copy, or cannot be read. */
static BOBBIN_ALWAYS_INLINE bool has_grown(const struct kernel_file *file)
{
	uint64_t end[2]; /* used_len and next of struct code_jit_unwind_table */

	return bpf_probe_read_user(end, sizeof(end), (const void *)(file->tail + 8)) ||
	       end[0] != file->used || end[1];
}

/* The packed rule by a file's table; 0: none, or user space has to look closer. */
static BOBBIN_ALWAYS_INLINE uint64_t table_word(struct walk_state *s,
						const struct kernel_file *file, uint64_t pc,
						uint64_t vaddr)
{
	const bool registered = kernel_is_registered(file->number);
	struct compiled_row row = {0}; /* Linux 6.1 wants to see that all of it is set */
	int r;

	if (file->tail && s->borrowed)
		return 0;
	s->source = file->source;
	r = table_find(&file->table, vaddr, &s->steps, &row);
	if (r == -BOBBIN_ENOENT && file->tail && has_grown(file))
		return 0;
	if (r == -BOBBIN_ENOENT && (registered || file->next != KERNEL_NO_FILE)) {
		s->next_file = registered ? KERNEL_UNDER : file->next;
		return 0;
	}
	if (r == -BOBBIN_ENOENT)
		return resort_word(s, file, pc, vaddr);
	/* likely rules are no words: the code at the PC may prove another */
	if (!r && !row.word && file->source == BOBBIN_SOURCE_CODE)
		return resort_word(s, file, pc, vaddr);
	if (r || !row.word)
		return 0;
	if (vaddr - file->entry < file->entry_size && !plain_outermost(row.word))
		return entry_word(s);
	if (row.end == vaddr + 1 && !registered) {
		const enum code_answer ends = (enum code_answer)ends_at(pc + 1);

		if (ends != CODE_NO)
			return ends == CODE_YES ? entry_word(s) : 0;
	}
	return file->eh_returns && replaces_frame(s->number, pc) ? 0 : row.word;
}

/* The same by a table's number; s->next_file: the one to ask instead, or KERNEL_NO_FILE. */
BOBBIN_STAGE uint64_t file_word(uint32_t number, uint32_t file, uint64_t pc, uint64_t vaddr)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);
	const uint32_t index = kernel_file_index(file);
	const struct kernel_file *f = bpf_map_lookup_elem(&files, &index);

	if (!s)
		return 0;
	s->next_file = KERNEL_NO_FILE;
	return f && f->number == file ? table_word(s, f, pc, vaddr) : 0;
}

/* An inferred rule that this CPU has kept, or 0. */
static BOBBIN_ALWAYS_INLINE uint64_t kept_inferred(const struct walk_state *s, uint64_t pc,
						   uint64_t slot)
{
	const struct kept_rule *kept = &s->kept[index_below(slot, KERNEL_RULES)];

	return kept->pc == pc && kept->list == (s->rules ^ INFERRED) ? kept->word : 0;
}

/* Keep the rule that was found. */
static BOBBIN_ALWAYS_INLINE void keep_rule(struct walk_state *s, uint64_t pc, uint64_t slot,
					   uint64_t word)
{
	const uint64_t list = s->source == BOBBIN_SOURCE_CODE ? s->rules ^ INFERRED : s->rules;

	s->kept[index_below(slot, KERNEL_RULES)] = (struct kept_rule){pc, list, word, s->source};
}

/*
 * The packed rule for an address, unless it is among those that this CPU has kept and trusts; or 0.
 * An inferred rule is kept, and not given: it is inferred_frames.h that steps by it.
 */
BOBBIN_STAGE uint64_t look_up(uint32_t number, uint64_t pc, uint64_t slot)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);
	const struct kernel_mapping *m;
	uint64_t word = 0, bias;

	if (!s)
		return 0;
	s->source = BOBBIN_SOURCE_CODE;
	if (kept_inferred(s, pc, slot))
		return 0;
	s->source = BOBBIN_SOURCE_NONE;
	m = find_mapping(s, pc);
	if (!m) {
		s->unmapped = true;
		return 0;
	}
	s->next_file = m->file;
	bias = m->bias;
	for (unsigned int i = 0; i < 1 + KERNEL_TABLES && !word; i++) {
		if (s->next_file == KERNEL_UNDER) {
			s->next_file = m->under;
			bias = m->under_bias;
		}
		if (s->next_file == KERNEL_BARE) {
			s->next_file = KERNEL_RECORD;
			break;
		}
		if (s->next_file == KERNEL_NO_FILE)
			return 0;
		if (s->next_file == KERNEL_RECORD)
			break;
		word = file_word(number, s->next_file, pc, pc - bias);
	}
	if (s->next_file == KERNEL_RECORD)
		s->source = is_known_code(pc) ? BOBBIN_SOURCE_NONE : BOBBIN_SOURCE_FRAME_POINTER;
	if (word)
		keep_rule(s, pc, slot, word);
	return s->source == BOBBIN_SOURCE_CODE ? 0 : word;
}

/* The place of an address among the rules that are kept. */
static BOBBIN_ALWAYS_INLINE uint64_t kept_slot(uint64_t pc)
{
	return index_below((pc * 0x9e3779b97f4a7c15ull) >> 52, KERNEL_RULES);
}

static BOBBIN_ALWAYS_INLINE uint64_t world_packed(struct frame_walk *w, uint64_t pc,
						  uint8_t *source)
{
	struct walk_state *s = (struct walk_state *)w;
	uint64_t slot = kept_slot(pc);
	const struct kept_rule *kept = &s->kept[slot];
	uint64_t word;

	if (kept->pc == pc && kept->list == s->rules) {
		*source = (uint8_t)kept->source;
		return kept->word;
	}
	word = look_up(s->number, pc, slot);
	*source = s->source;
	return word;
}

/* The same, or an inferred rule, for who checks what it leads to. */
static BOBBIN_ALWAYS_INLINE uint64_t unchecked_packed(struct frame_walk *w, uint64_t pc,
						      uint8_t *source)
{
	const uint64_t word = world_packed(w, pc, source);

	return *source == BOBBIN_SOURCE_CODE
		       ? kept_inferred((const struct walk_state *)w, pc, kept_slot(pc))
		       : word;
}

#endif
