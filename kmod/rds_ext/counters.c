// SPDX-License-Identifier: GPL-2.0
#include <linux/percpu.h>

#include "rds.h"

#include "counters.h"
#include "exthdr.h"

struct counters {
	u64 count[REXT_TYPES][REXT_COUNTERS];
};

/* From init to exit of the module, which both happen without hooks running. */
static struct counters __percpu *counters;

/**
 * rext_counters_init() - set all counters to 0
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int rext_counters_init(void)
{
	counters = alloc_percpu(struct counters);
	return counters ? 0 : -ENOMEM;
}

/**
 * rext_counters_exit() - free the counters
 *
 * Context: process.
 */
void rext_counters_exit(void)
{
	free_percpu(counters);
}

static void count(unsigned int type, enum rext_counter which)
{
	/* Callers of the kernel's own function may pass any number. */
	if (type < REXT_TYPES)
		this_cpu_inc(counters->count[type][which]);
}

/**
 * rext_counters_read() - get the counters of a type
 * @type: the type, below REXT_TYPES
 * @sum: set to the counters, over all CPUs
 *
 * Context: any.
 * Return: true where one of them is not 0.
 */
bool rext_counters_read(unsigned int type, u64 sum[REXT_COUNTERS])
{
	bool any = false;
	unsigned int i;
	int cpu;

	for (i = 0; i < REXT_COUNTERS; i++) {
		sum[i] = 0;
		for_each_possible_cpu(cpu)
			sum[i] += READ_ONCE(per_cpu_ptr(counters, cpu)->count[type][i]);
		any |= sum[i] != 0;
	}
	return any;
}

/**
 * rext_counters_add() - add an extension header, and count what came of it
 * @space: the extension space of a header
 * @type: type to add
 * @payload: its payload, as long as the type wants it
 *
 * Context: any.
 * Return: true where the header carries it then.
 */
bool rext_counters_add(u8 *space, unsigned int type, const void *payload)
{
	switch (exthdr_add(space, type, payload)) {
	case EXTHDR_OK:
		count(type, REXT_TX);
		return true;
	case EXTHDR_SAME:
		return true;
	case EXTHDR_NO_ROOM:
		count(type, REXT_TX_NO_ROOM);
		return false;
	case EXTHDR_DUPLICATE:
		count(type, REXT_TX_DUPLICATE);
		return false;
	default:
		count(type, REXT_TX_REJECTED);
		return false;
	}
}

/**
 * rext_counters_rx() - count the extension headers of a message that came in
 * @hdr: its header
 *
 * Context: any.
 */
void rext_counters_rx(const struct rds_header *hdr)
{
	unsigned int pos = 0, type, len;
	enum exthdr_result result;
	const u8 *payload;

	do {
		result = exthdr_next(hdr->h_exthdr, &pos, &type, &payload,
				     &len);
		switch (result) {
		case EXTHDR_OK:
			count(type, REXT_RX);
			break;
		case EXTHDR_DUPLICATE:
			count(type, REXT_RX_DUPLICATE);
			break;
		case EXTHDR_TRUNCATED:
			count(type, REXT_RX_TRUNCATED);
			break;
		case EXTHDR_UNKNOWN:
			count(type, REXT_RX_UNKNOWN);
			break;
		default:
			break;
		}
	} while (result == EXTHDR_OK || result == EXTHDR_DUPLICATE);
}

/**
 * rext_ext_add() - what rds_message_add_extension() does while we are loaded
 * @hdr: header to add to
 * @type: type to add
 * @data: its payload
 *
 * Two kinds are left to the kernel. Types of the TCP handshake: 6.1 and 6.12
 * send the number of paths and never get to the generation, and a stock peer
 * that was sent one would run code for it that no such pair has ever run. And
 * types that this kernel is ahead of us with.
 *
 * Context: any.
 * Return: 1 where the header carries it then, 0 where not, -1 to leave it to
 * the kernel's own function.
 */
int rext_ext_add(struct rds_header *hdr, unsigned int type, const void *data)
{
	switch (type) {
	case EXTHDR_NPATHS:
	case EXTHDR_GEN_NUM:
	case EXTHDR_SPORT_IDX:
		return -1;
	}
	if (type < EXTHDR_FIRST_OWN && !exthdr_lookup(type))
		return -1;
	return rext_counters_add(hdr->h_exthdr, type, data);
}

/**
 * rext_ext_next() - what rds_message_next_extension() does while we are loaded
 * @hdr: header to read
 * @pos: byte to start from, set to the one behind the extension header
 * @buf: set to its payload
 * @buflen: size of @buf, set to the length of what was copied
 *
 * The position is the same as the kernel's own function uses, so that a loop
 * may go on with either when the module comes or goes.
 *
 * Context: any.
 * Return: the type, or 0 where there is no further one that can be used.
 */
int rext_ext_next(const struct rds_header *hdr, unsigned int *pos, void *buf,
		  unsigned int *buflen)
{
	enum exthdr_result result;
	unsigned int type, len;
	const u8 *payload;

	do {
		result = exthdr_next(hdr->h_exthdr, pos, &type, &payload, &len);
	} while (result == EXTHDR_DUPLICATE);

	if (result != EXTHDR_OK) {
		*pos = EXTHDR_SPACE;
		*buflen = 0;
		return EXTHDR_NONE;
	}
	*buflen = min(len, *buflen);
	memcpy(buf, payload, *buflen);
	return type;
}
