/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/walk_loader.h"

#include <errno.h>
#include <signal.h>

static void *load(void *ctx)
{
	struct walk_loader *l = ctx;

	l->error = bpf_walk_open(l->unwinder, &l->options, &l->walk);
	return NULL;
}

int walk_loader_start(struct walk_loader *loader, struct bobbin_unwinder *unwinder,
		      const struct bpf_walk_options *options)
{
	sigset_t all, before;
	int r;

	*loader = (struct walk_loader){.unwinder = unwinder, .options = *options};
	/* signals are the recorder's */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&loader->thread, NULL, load, loader);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	loader->running = !r;
	return -r;
}

int walk_loader_join(struct walk_loader *loader, struct bpf_walk **ret)
{
	if (!loader->running)
		return -EINVAL;
	pthread_join(loader->thread, NULL);
	loader->running = false;
	if (!loader->error)
		*ret = loader->walk;
	return loader->error;
}

void walk_loader_abandon(struct walk_loader *loader)
{
	struct bpf_walk *walk;

	if (!walk_loader_join(loader, &walk))
		bpf_walk_close(walk);
}
