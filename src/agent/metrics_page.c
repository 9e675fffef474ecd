/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/metrics_page.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/loaded_library.h"

#define TYPE "text/plain; version=0.0.4; charset=utf-8"
#define CONNECTIONS 8u
#define TIMEOUT_SECONDS 5u
#define HOST_SIZE 64

/* libmicrohttpd's, as it names them. */
static struct {
	typeof(MHD_create_response_from_buffer) *make;
	typeof(MHD_add_response_header) *add_header;
	typeof(MHD_queue_response) *queue;
	typeof(MHD_destroy_response) *destroy;
	typeof(MHD_start_daemon) *start;
	typeof(MHD_stop_daemon) *stop;
} library;

struct metrics_page {
	struct MHD_Daemon *server;
	unsigned int port;
	metrics_writer *write;
	void *ctx;
};

static int load_library(void)
{
	static const char *const names[] = {"libmicrohttpd.so.12", "libmicrohttpd.so.13", NULL};
	static const struct library_function functions[] = {
		{"MHD_create_response_from_buffer", &library.make},
		{"MHD_add_response_header", &library.add_header},
		{"MHD_queue_response", &library.queue},
		{"MHD_destroy_response", &library.destroy},
		{"MHD_start_daemon", &library.start},
		{"MHD_stop_daemon", &library.stop},
	};

	return loaded_library_open(names, functions, sizeof(functions) / sizeof(*functions));
}

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

static bool read_port(const char *text, in_port_t *ret)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	*ret = htons((uint16_t)port);
	return *text >= '0' && *text <= '9' && !*end && port <= UINT16_MAX;
}

/* The host of "HOST:PORT", without brackets. */
static bool take_host(const char *text, const char *colon, char host[HOST_SIZE])
{
	size_t length = (size_t)(colon - text);
	const bool brackets = length > 2 && *text == '[' && text[length - 1] == ']';

	if (brackets) {
		text++;
		length -= 2;
	}
	if (length >= HOST_SIZE)
		return false;
	memcpy(host, text, length);
	host[length] = '\0';
	return true;
}

static int read_address(const char *text, union address *ret)
{
	const char *colon = strrchr(text, ':');
	char host[HOST_SIZE] = "127.0.0.1";
	in_port_t port;

	*ret = (union address){0};
	if (!read_port(colon ? colon + 1 : text, &port) || (colon && !take_host(text, colon, host)))
		return -EINVAL;
	if (inet_pton(AF_INET, host, &ret->four.sin_addr) == 1) {
		ret->four.sin_family = AF_INET;
		ret->four.sin_port = port;
		return 0;
	}
	if (inet_pton(AF_INET6, host, &ret->six.sin6_addr) != 1)
		return -EINVAL;
	ret->six.sin6_family = AF_INET6;
	ret->six.sin6_port = port;
	return 0;
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned int status,
			      const char *type, char *text, size_t size)
{
	struct MHD_Response *response = library.make(size, text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	library.add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	result = library.queue(connection, status, response);
	library.destroy(response);
	return result;
}

static enum MHD_Result answer_metrics(const struct metrics_page *page,
				      struct MHD_Connection *connection)
{
	enum MHD_Result result;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return MHD_NO;
	page->write(page->ctx, out);
	result = fclose(out) ? MHD_NO : answer(connection, MHD_HTTP_OK, TYPE, text, size);
	free(text);
	return result;
}

static enum MHD_Result handle(void *ctx, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **of_request)
{
	static char missing[] = "see /metrics\n", refused[] = "only GET\n";

	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain", refused,
			      sizeof(refused) - 1);
	if (strcmp(url, "/metrics") != 0)
		return answer(connection, MHD_HTTP_NOT_FOUND, "text/plain", missing,
			      sizeof(missing) - 1);
	return answer_metrics(ctx, connection);
}

static int bind_to(int fd, const union address *address)
{
	const socklen_t size = address->any.sa_family == AF_INET6 ? sizeof(address->six)
								  : sizeof(address->four);
	const int yes = 1;

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) ||
	    (address->any.sa_family == AF_INET6 &&
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes))) ||
	    bind(fd, &address->any, size) || listen(fd, SOMAXCONN))
		return -errno;
	return 0;
}

/*
 * A socket of our own, because of errors: the library's function says that there is one, but not
 * which.  @address becomes that which it has.  The socket or a negative errno.
 */
static int open_socket(union address *address)
{
	socklen_t size = sizeof(*address);
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), r;

	if (fd < 0)
		return -errno;
	r = bind_to(fd, address);
	if (!r && getsockname(fd, &address->any, &size))
		r = -errno;
	if (!r)
		return fd;
	close(fd);
	return r;
}

/* The server closes its socket when it stops. */
static int start(struct metrics_page *page, union address *address)
{
	const bool six = address->any.sa_family == AF_INET6;
	int fd = open_socket(address);

	if (fd < 0)
		return fd;
	page->port = ntohs(six ? address->six.sin6_port : address->four.sin_port);
	page->server = library.start(
		MHD_USE_AUTO_INTERNAL_THREAD | (six ? MHD_USE_IPv6 : 0), 0, NULL, NULL, handle,
		page, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_SECONDS, MHD_OPTION_END);
	return page->server ? 0 : -EAGAIN;
}

int metrics_page_open(const char *address, metrics_writer *write, void *ctx,
		      struct metrics_page **ret)
{
	struct metrics_page *page;
	union address where;
	int r = read_address(address, &where);

	if (!r)
		r = load_library();
	if (r)
		return r;
	page = calloc(1, sizeof(*page));
	if (!page)
		return -ENOMEM;
	page->write = write;
	page->ctx = ctx;
	r = start(page, &where);
	if (r)
		free(page);
	else
		*ret = page;
	return r;
}

void metrics_page_close(struct metrics_page *page)
{
	if (!page)
		return;
	library.stop(page->server);
	free(page);
}

unsigned int metrics_page_port(const struct metrics_page *page)
{
	return page->port;
}
