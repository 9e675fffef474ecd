/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* convert_file FILE - write an SFrame section with the rules of the file's .eh_frame. */
#include <bobbin/convert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct bobbin_conversion made;
	struct bobbin_error err;
	int r = bobbin_convert(open(argv[argc - 1], O_RDONLY), 0, &err, &made);

	if (r) {
		fprintf(stderr, "%s\n", err.reason ? bobbin_reason_str(err.reason) : strerror(-r));
		return 1;
	}
	fwrite(made.data, 1, made.size, stdout);
	free(made.data);
	return 0;
}
