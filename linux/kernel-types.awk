# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# kernel-types.awk - the library's C as the kernel writes it.
#
# uint32_t becomes u32, and with uapi=1 __u32.  What was aligned with a parenthesis or a brace that
# is open stays so.  A C file's first line is a // comment.  No two empty lines follow one another.
# The result of FILE is in to/FILE.

# the column after @text, which begins in @column
function end_column(text, column,    i)
{
	for (i = 1; i <= length(text); i++)
		column = substr(text, i, 1) == "\t" ? column + 8 - column % 8 : column + 1
	return column
}

function indentation(column,    text)
{
	for (text = ""; column >= 8; column -= 8)
		text = text "\t"
	return text substr("       ", 1, column)
}

function with_types(text,    done, word)
{
	for (done = ""; match(text, /u?int(8|16|32|64)_t/); text = substr(text, RSTART + RLENGTH)) {
		word = substr(text, RSTART, RLENGTH)
		done = done substr(text, 1, RSTART - 1)
		if (done ~ /[A-Za-z0-9_]$/ || substr(text, RSTART + RLENGTH) ~ /^[A-Za-z0-9_]/) {
			done = done word
			continue
		}
		sub(/^u?int/, word ~ /^u/ ? "u" : "s", word)
		sub(/_t$/, "", word)
		done = done (uapi ? "__" : "") word
	}
	return done text
}

# the columns of what is open after @text: of the old line for @old, else of the new
function note_open(text, old,    i, c, quote, column)
{
	depth = open_before
	column = 0
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		column = c == "\t" ? column + 8 - column % 8 : column + 1
		if (quote) {
			if (c == "\\") {
				i++
				column++
			} else if (c == quote)
				quote = ""
		} else if (c == "\"" || c == "'")
			quote = c
		else if (c == "/" && substr(text, i + 1, 1) ~ /[\/*]/)
			break
		else if (c == "(" || c == "{" || c == "[") {
			depth++
			if (old)
				was[depth] = column
			else
				is[depth] = column
		} else if ((c == ")" || c == "}" || c == "]") && depth > 0)
			depth--
	}
}

FNR == 1 {
	out = to "/" FILENAME
	open_before = empty = 0
}
FNR == 1 && FILENAME ~ /\.c$/ {
	sub(/^\/\* /, "// ")
	sub(/ \*\/$/, "")
}

{
	was_empty = empty
	empty = $0 == ""
}
empty && was_empty { next }

/^[ \t]*\*|^[ \t]*\/\*/ {
	print with_types($0) >out
	next
}

{
	match($0, /^[ \t]*/)
	column = end_column(substr($0, 1, RLENGTH), 0)
	text = with_types(substr($0, RLENGTH + 1))
	for (i = open_before; i > 0; i--)
		if (was[i] == column) {
			column = is[i]
			break
		}
	line = text == "" ? "" : indentation(column) text
	note_open($0, 1)
	note_open(line, 0)
	open_before = depth
	# a function's body: nothing is open from before
	if ($0 ~ /^[}#]/)
		open_before = 0
	print line >out
}
