/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/loader_link.h"

#include <dlfcn.h>

#ifdef DLFO_STRUCT_HAS_EH_DBASE /* the header declares it; the library that runs may be older */
#pragma weak _dl_find_object

bool loader_link_usable(void)
{
	return _dl_find_object;
}

bool loader_link_find(uint64_t addr, struct loader_link *ret)
{
	struct dl_find_object object;

	if (!_dl_find_object || _dl_find_object((void *)addr, &object))
		return false;
	*ret = (struct loader_link){object.dlfo_link_map, object.dlfo_map_start,
				    object.dlfo_map_end, object.dlfo_eh_frame};
	return true;
}
#else
bool loader_link_usable(void)
{
	return false;
}

bool loader_link_find(uint64_t addr, struct loader_link *ret)
{
	return false;
}
#endif
