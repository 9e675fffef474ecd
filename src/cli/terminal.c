/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/top.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/file_range.h"
#include "export/safe_text.h"

/* The alternate screen, without a cursor, without lines that wrap; and back. */
#define ENTER "\033[?1049h\033[?25l\033[?7l\033[0m\033[2J"
#define LEAVE "\033[0m\033[?7h\033[?25h\033[?1049l"

#define DEFAULT_WIDTH 80
#define DEFAULT_HEIGHT 24
#define MOST_COLUMNS 1000
/* Between the bytes of one key, over slow lines. */
#define SEQUENCE_MS 50

static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};

#define CRASHES (sizeof(crashes) / sizeof(*crashes))

static struct {
	volatile sig_atomic_t entered;
	struct termios before;
	struct sigaction on_crash[CRASHES];
	/* as they were sent */
	char **lines;
	size_t count;
	char typed[64];
	size_t typed_size;
} terminal;

bool terminal_is_usable(void)
{
	const char *type = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && type && *type &&
	       strcmp(type, "dumb") != 0;
}

static bool is_in_background(void)
{
	pid_t group = tcgetpgrp(STDIN_FILENO);

	return group >= 0 && group != getpgrp();
}

/* May be called by a signal's handler. */
static void put_back(void)
{
	int error = errno;

	if (!terminal.entered)
		return;
	terminal.entered = 0;
	file_append(STDOUT_FILENO, LEAVE, strlen(LEAVE));
	/* the shell has its own settings there already, and would have to stop us */
	while (!is_in_background() && tcsetattr(STDIN_FILENO, TCSAFLUSH, &terminal.before))
		if (errno != EINTR)
			break;
	errno = error;
}

/* What is said of the crash, and the shell, need a terminal as it was. */
static void on_crash(int signal)
{
	put_back();
	for (size_t i = 0; i < CRASHES; i++)
		if (crashes[i] == signal)
			sigaction(signal, &terminal.on_crash[i], NULL);
	raise(signal);
}

static void catch_crashes(void)
{
	struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_NODEFER};

	for (size_t i = 0; i < CRASHES; i++)
		sigaction(crashes[i], &action, &terminal.on_crash[i]);
}

static void let_crash(void)
{
	for (size_t i = 0; i < CRASHES; i++)
		sigaction(crashes[i], &terminal.on_crash[i], NULL);
}

/* Signals of the keyboard stay. */
static int set_raw(void)
{
	struct termios raw = terminal.before;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
	raw.c_iflag &= ~(tcflag_t)(IXON | ICRNL);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	return tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) ? -errno : 0;
}

int terminal_enter(void)
{
	int error;

	terminal_forget();
	/* in the background this stops; the settings there are the shell's */
	if (tcdrain(STDIN_FILENO))
		return -errno;
	if (!terminal.entered) {
		if (tcgetattr(STDIN_FILENO, &terminal.before))
			return -errno;
		catch_crashes();
	}
	terminal.entered = 1;
	error = set_raw();
	if (!error)
		error = file_append(STDOUT_FILENO, ENTER, strlen(ENTER));
	if (error)
		terminal_leave();
	return error;
}

void terminal_leave(void)
{
	if (!terminal.entered)
		return;
	put_back();
	let_crash();
	terminal_forget();
}

void terminal_size(size_t *width, size_t *height)
{
	struct winsize size = {0};

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	*width = size.ws_col ? size.ws_col : DEFAULT_WIDTH;
	*height = size.ws_row ? size.ws_row : DEFAULT_HEIGHT;
	if (*width > MOST_COLUMNS)
		*width = MOST_COLUMNS;
	if (*height > MOST_COLUMNS)
		*height = MOST_COLUMNS;
}

void terminal_forget(void)
{
	for (size_t i = 0; i < terminal.count; i++)
		free(terminal.lines[i]);
	free(terminal.lines);
	terminal.lines = NULL;
	terminal.count = 0;
}

/* A line with its style, as wide as the screen if that can be seen. */
static char *styled(const struct top_line *line, size_t width)
{
	size_t columns = safe_text_columns(line->text);
	char *ret;
	int n;

	if (line->style == TOP_PLAIN)
		return strdup(line->text);
	n = asprintf(&ret, "\033[7m%s%*s\033[0m", line->text,
		     (int)(width > columns ? width - columns : 0), "");
	return n < 0 ? NULL : ret;
}

static bool is_shown(size_t line, const char *text)
{
	return line < terminal.count && !strcmp(terminal.lines[line], text);
}

static void put_lines(char *const *lines, size_t count, FILE *out)
{
	if (count != terminal.count)
		fputs("\033[2J", out);
	for (size_t i = 0; i < count; i++)
		if (count != terminal.count || !is_shown(i, lines[i]))
			fprintf(out, "\033[%zu;1H%s\033[K", i + 1, lines[i]);
}

static int send_lines(char *const *lines, size_t count)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int r;

	if (!out)
		return -ENOMEM;
	put_lines(lines, count, out);
	r = fclose(out) ? -ENOMEM : file_append(STDOUT_FILENO, text, size);
	free(text);
	return r;
}

int terminal_draw(const struct top_screen *screen, size_t width)
{
	char **lines = calloc(screen->count + 1, sizeof(*lines));
	int r = lines ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < screen->count; i++) {
		lines[i] = styled(&screen->lines[i], width);
		r = lines[i] ? 0 : -ENOMEM;
	}
	if (!r)
		r = send_lines(lines, screen->count);
	terminal_forget();
	terminal.lines = lines;
	terminal.count = lines ? screen->count : 0;
	return r;
}

/* Longer ones are none. */
#define LONGEST 16

/* CSI A, SS3 A. */
static int key_of_letter(char letter)
{
	switch (letter) {
	case 'A':
		return TOP_KEY_UP;
	case 'B':
		return TOP_KEY_DOWN;
	case 'H':
		return TOP_KEY_HOME;
	case 'F':
		return TOP_KEY_END;
	default:
		return 0;
	}
}

/* CSI 5 ~ */
static int key_of_number(long number)
{
	switch (number) {
	case 1:
	case 7:
		return TOP_KEY_HOME;
	case 4:
	case 8:
		return TOP_KEY_END;
	case 5:
		return TOP_KEY_PAGE_UP;
	case 6:
		return TOP_KEY_PAGE_DOWN;
	default:
		return 0;
	}
}

static bool is_final(char c)
{
	return c >= 0x40 && c <= 0x7e;
}

/* What follows CSI or SS3, up to a final byte. */
static int read_sequence(const char *bytes, size_t size, bool more, size_t *used)
{
	size_t at = 2;

	while (at < size && at < LONGEST && !is_final(bytes[at]))
		at++;
	if (at == size && at < LONGEST) {
		*used = more ? 0 : size;
		return 0;
	}
	*used = at == LONGEST ? at : at + 1;
	if (at == LONGEST)
		return 0;
	return bytes[at] == '~' ? key_of_number(strtol(bytes + 2, NULL, 10))
				: key_of_letter(bytes[at]);
}

int terminal_bytes_key(const char *bytes, size_t size, bool more, size_t *used)
{
	*used = 1;
	if (bytes[0] != TOP_KEY_ESCAPE)
		return (unsigned char)bytes[0];
	if (size == 1 && more)
		*used = 0;
	if (size == 1)
		return more ? 0 : TOP_KEY_ESCAPE;
	if (bytes[1] == '[' || bytes[1] == 'O')
		return read_sequence(bytes, size, more, used);
	return TOP_KEY_ESCAPE;
}

/* Whether there may be more; what there is goes behind what was typed. */
static bool read_more(int wait_ms)
{
	struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
	ssize_t n;

	if (poll(&fd, 1, wait_ms) <= 0)
		return true;
	n = read(STDIN_FILENO, terminal.typed + terminal.typed_size,
		 sizeof(terminal.typed) - terminal.typed_size);
	if (n > 0)
		terminal.typed_size += (size_t)n;
	return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

/* The first key of what was typed; 0: it is none that is known. */
static int take_key(void)
{
	size_t used = 0;
	int key = terminal_bytes_key(terminal.typed, terminal.typed_size, true, &used);

	if (!used) {
		read_more(SEQUENCE_MS);
		key = terminal_bytes_key(terminal.typed, terminal.typed_size, false, &used);
	}
	terminal.typed_size -= used;
	memmove(terminal.typed, terminal.typed + used, terminal.typed_size);
	return key;
}

int terminal_key(void)
{
	bool open = true;
	int key = 0;

	if (!terminal.typed_size)
		open = read_more(0);
	if (!open && !terminal.typed_size)
		return -1;
	while (!key && terminal.typed_size)
		key = take_key();
	return key;
}
