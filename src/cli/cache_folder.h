/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cache_folder.h - where a user's compiled tables are kept.
 */
#ifndef BOBBIN_CLI_CACHE_FOLDER_H
#define BOBBIN_CLI_CACHE_FOLDER_H

/* $XDG_CACHE_HOME/bobbin, ~/.cache/bobbin, root's own folder; "": there is none. */
const char *cache_folder(void);

#endif
