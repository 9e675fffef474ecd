/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * carrier FILE OFFSET MS [late] - main > carry > back > spin
 *
 * carry() is at OFFSET in FILE, which is read into memory without a file and
 * registered as an ELF image.  MS 0: it does not spin but sleeps.
 * "late": the recorder, which must be the parent, is stopped until the image is registered.
 */
#include "catch_up.h"
#include "spin.h"

#include <bobbin/codectl.h>
#include <fcntl.h>
#include <signal.h>
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

/* The recorder gets samples of what was before, and then finds the page at once. */
static void stop_recorder(void)
{
	spin(200);
	let_catch_up(getppid());
	if (kill(getppid(), SIGSTOP))
		give_up("kill");
	spin(20);
}

int main(int argc, char **argv)
{
	bool late = argc == 5 && !strcmp(argv[4], "late");
	struct code_elf_info info = {0};
	size_t size, offset;
	char *image;
	int result;

	if (argc != 4 && !late)
		return 2;
	if (late)
		stop_recorder();
	image = load(argv[1], &size);
	offset = strtoul(argv[2], NULL, 16);
	info.elf_start = (uintptr_t)image;
	info.elf_end = (uintptr_t)image + size;
	info.text_start = (uintptr_t)image + offset / PAGE * PAGE;
	info.text_end = info.text_start + PAGE;
	info.pathname = (uintptr_t)argv[1];
	if (codectl(CODE_REGISTER_ELF, &info, sizeof(info), 0))
		give_up("codectl");
	if (late && kill(getppid(), SIGCONT))
		give_up("kill");
	fclose(fopen("ready", "w"));
	result = ((int (*)(int (*)(long), long))(uintptr_t)(image + offset))(back, atol(argv[3]));
	let_catch_up(getppid());
	return result == 7 ? 0 : 1;
}
