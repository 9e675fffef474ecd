/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * profile_builder.h - from the samples of a recording to a profile that is written for viewers.
 */
#ifndef BOBBIN_CLI_PROFILE_BUILDER_H
#define BOBBIN_CLI_PROFILE_BUILDER_H

#include "export/profile.h"
#include "profile/session.h"
#include "profile/stack_sample.h"

struct profile_builder;

/*
 * @session: where the samples come from; it lives as long as the builder.  @timed: each sample is
 * kept with its time.  0, -ENOMEM, or the errno of making a file for samples.
 */
int profile_builder_open(struct session *session, bool timed, struct profile_builder **ret);
void profile_builder_close(struct profile_builder *builder); /* or NULL */

/* Add a sample, named.  0 or a negative errno. */
int profile_builder_add(struct profile_builder *builder, const struct stack_sample *sample);

/* That function, for who gives samples to a sink; the context is a struct profile_builder. */
extern const struct sample_sink profile_builder_sink;

/* What was added; the builder's. */
struct profile *profile_builder_profile(struct profile_builder *builder);

#endif
