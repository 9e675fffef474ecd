/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * xml_reader.h - whether a text is well-formed XML.
 *
 * Stricter than XML where our writers need no more: no DTD, no comments, no
 * entities but numbers, attributes in double quotes.
 */
#ifndef BOBBIN_TESTS_EXPORT_XML_READER_H
#define BOBBIN_TESTS_EXPORT_XML_READER_H

/**
 * xml_reader_check() - read a whole document
 *
 * Return: NULL if it is well-formed, else what is wrong (a static string).
 */
const char *xml_reader_check(const char *text);

#endif
