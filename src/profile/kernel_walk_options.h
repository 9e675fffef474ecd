/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel_walk_options.h - what is wanted of the programs that walk in the kernel.
 */
#ifndef BOBBIN_PROFILE_KERNEL_WALK_OPTIONS_H
#define BOBBIN_PROFILE_KERNEL_WALK_OPTIONS_H

#include "profile/kernel_walk_abi.h"
#include "profile/sampler.h"

/**
 * struct kernel_walk_options - what is wanted of the program
 * @also_copy: the kernel's samples beside its traces
 * @by_user, @user: only samples of processes of this (real) user
 * @all: hits of all threads; else of those that are told, see kernel_walk_sample()
 * @events: of the recording; samples of those that are @by_program, and of the first other one, are
 *	walked
 * @cpus: where hits are sampled; NULL: everywhere
 *
 * What it points to is there as long as the walk is.
 */
struct kernel_walk_options {
	bool also_copy, by_user, all;
	uint32_t user;
	const struct sampler_event *events;
	size_t event_count;
	const struct cpu_choice *cpus;
};

#endif
