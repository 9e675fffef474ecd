# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes a style sheet or a script the text of a C string literal, without
# indentation, blank lines and lines that are a comment.
s/^[[:space:]]*//
/^$/d
/^\/\//d
/^\/\*.*\*\/$/d
s/[\\"]/\\&/g
s/.*/"&\\n"/
