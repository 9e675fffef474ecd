/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * carrier FILE OFFSET MS - main > carry > back > spin
 *
 * carry() is at OFFSET in FILE, which is read into memory without a file and
 * registered as an ELF image.  MS 0: it does not spin but sleeps.
 */
#include "spin.h"

#include <bobbin/codectl.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096

static void give_up(const char *what)
{
	perror(what);
	exit(1);
}

static NOINLINE int back(long ms)
{
	if (ms)
		spin(ms);
	else
		pause();
	NO_TAIL_CALL();
	return 7;
}

static char *load(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	char *image;

	if (fd < 0 || fstat(fd, &st))
		give_up(path);
	*size = ((size_t)st.st_size + PAGE - 1) / PAGE * PAGE;
	image = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (image == MAP_FAILED || read(fd, image, *size) != st.st_size ||
	    mprotect(image, *size, PROT_READ | PROT_EXEC))
		give_up("loading");
	close(fd);
	return image;
}

int main(int argc, char **argv)
{
	struct code_elf_info info = {0};
	size_t size, offset;
	char *image;

	if (argc != 4)
		return 2;
	image = load(argv[1], &size);
	offset = strtoul(argv[2], NULL, 16);
	info.elf_start = (uintptr_t)image;
	info.elf_end = (uintptr_t)image + size;
	info.text_start = (uintptr_t)image + offset / PAGE * PAGE;
	info.text_end = info.text_start + PAGE;
	info.pathname = (uintptr_t)argv[1];
	if (codectl(CODE_REGISTER_ELF, &info, sizeof(info), 0))
		give_up("codectl");
	fclose(fopen("ready", "w"));
	return ((int (*)(int (*)(long), long))(uintptr_t)(image + offset))(back, atol(argv[3])) == 7
		       ? 0
		       : 1;
}
