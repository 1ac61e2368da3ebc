// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "reference.h"

void ref_parse(const u8 *space, struct ref_list *list)
{
	unsigned int i = 0;

	memset(list, 0, sizeof(*list));
	list->end = EXTHDR_END;
	while (i < EXTHDR_SPACE && space[i] != 0) {
		const struct exthdr_desc *desc = exthdr_lookup(space[i]);
		struct ref_ext *ext = &list->ext[list->n];
		unsigned int j;

		if (!desc) {
			list->end = EXTHDR_UNKNOWN;
			break;
		}
		if (i + 1 + desc->len > EXTHDR_SPACE) {
			list->end = EXTHDR_TRUNCATED;
			break;
		}
		ext->type = space[i];
		ext->off = i;
		ext->len = desc->len;
		for (j = 0; j < desc->len; j++)
			ext->payload[j] = space[i + 1 + j];
		for (j = 0; j < list->n; j++)
			if (list->ext[j].type == ext->type)
				ext->duplicate = true;
		list->n++;
		i += 1 + desc->len;
	}
	list->end_off = i;
}

const struct ref_ext *ref_find(const struct ref_list *list, unsigned int type)
{
	unsigned int i;

	for (i = 0; i < list->n; i++)
		if (list->ext[i].type == type)
			return &list->ext[i];
	return NULL;
}

unsigned int ref_room(const u8 *space)
{
	struct ref_list list;

	ref_parse(space, &list);
	return list.end == EXTHDR_END ? EXTHDR_SPACE - list.end_off : 0;
}

static void ref_write(u8 *space, const struct ref_list *list)
{
	unsigned int i, j, k = 0;

	for (i = 0; i < list->n; i++) {
		space[k++] = list->ext[i].type;
		for (j = 0; j < list->ext[i].len; j++)
			space[k++] = list->ext[i].payload[j];
	}
	while (k < EXTHDR_SPACE)
		space[k++] = 0;
}

enum exthdr_result ref_add(u8 *space, unsigned int type, const u8 *payload)
{
	const struct exthdr_desc *desc = exthdr_lookup(type);
	const struct ref_ext *there;
	struct ref_list list;
	struct ref_ext *ext;

	if (!desc)
		return EXTHDR_UNKNOWN;
	ref_parse(space, &list);
	there = ref_find(&list, type);
	if (there)
		return memcmp(there->payload, payload, desc->len) == 0 ?
			EXTHDR_SAME : EXTHDR_DUPLICATE;
	if (list.end != EXTHDR_END)
		return list.end;
	if (list.end_off + 1 + desc->len > EXTHDR_SPACE)
		return EXTHDR_NO_ROOM;
	ext = &list.ext[list.n++];
	ext->type = type;
	ext->len = desc->len;
	memcpy(ext->payload, payload, desc->len);
	ref_write(space, &list);
	return EXTHDR_OK;
}
