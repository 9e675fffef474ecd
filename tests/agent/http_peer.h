/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * http_peer.h - the other end of a connection over HTTP, on the loopback interface.
 */
#ifndef BOBBIN_TESTS_AGENT_HTTP_PEER_H
#define BOBBIN_TESTS_AGENT_HTTP_PEER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

/* A server that answers one request with these bytes, in a thread. */
struct http_peer {
	int fd;
	unsigned int port;
	pthread_t thread;
	const char *answer;
	size_t answer_size;
	char request[65536]; /* what it was asked, ends with a zero */
	size_t size;
};

static inline size_t body_length(const char *request)
{
	const char *field = strcasestr(request, "\ncontent-length:");

	return field ? strtoul(field + strlen("\ncontent-length:"), NULL, 10) : 0;
}

static inline void *http_peer_run(void *ctx)
{
	struct http_peer *peer = ctx;
	int fd = accept(peer->fd, NULL, NULL);
	const char *body = NULL;
	ssize_t n = 1;

	if (fd < 0) /* nobody has come */
		return NULL;
	while (n > 0 && peer->size < sizeof(peer->request) - 1 &&
	       (!body ||
		(size_t)(peer->request + peer->size - body) < body_length(peer->request))) {
		n = read(fd, peer->request + peer->size, sizeof(peer->request) - 1 - peer->size);
		peer->size += n > 0 ? (size_t)n : 0;
		body = strstr(peer->request, "\r\n\r\n");
		body = body ? body + 4 : NULL;
	}
	if (peer->answer_size && write(fd, peer->answer, peer->answer_size) < 0)
		perror("http_peer");
	close(fd);
	return NULL;
}

/* @size: of the answer; 0: the connection is closed without one */
static inline void http_peer_start(struct http_peer *peer, const char *answer, size_t size)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);

	*peer = (struct http_peer){
		.fd = socket(AF_INET, SOCK_STREAM, 0), .answer = answer, .answer_size = size};
	if (peer->fd < 0 || bind(peer->fd, (struct sockaddr *)&address, length) ||
	    listen(peer->fd, 1) || getsockname(peer->fd, (struct sockaddr *)&address, &length) ||
	    pthread_create(&peer->thread, NULL, http_peer_run, peer))
		abort();
	peer->port = ntohs(address.sin_port);
}

static inline void http_peer_end(struct http_peer *peer)
{
	shutdown(peer->fd, SHUT_RDWR);
	pthread_join(peer->thread, NULL);
	close(peer->fd);
}

/* What a server of this machine answers to a request; @text ends with a zero. */
static inline void http_ask(unsigned int port, const char *request, char *text, size_t size)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	size_t at = 0;
	ssize_t n;

	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    write(fd, request, strlen(request)) < 0)
		abort();
	while (at < size - 1 && (n = read(fd, text + at, size - 1 - at)) > 0)
		at += (size_t)n;
	text[at] = '\0';
	close(fd);
}

#endif
