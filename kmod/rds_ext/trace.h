/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints, in the system rds_ext. They hold R_Keys, as tracefs is root's.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rds_ext

#if !defined(RDS_EXT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define RDS_EXT_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/ib_verbs.h>

/* How an MR gets from one state to the next: RDS_EXT_MR_STATE_*. */
TRACE_EVENT(rext_mr_state,
	    TP_PROTO(const char *device, u32 id, u32 key, u32 from, u32 to),
	    TP_ARGS(device, id, key, from, to),
	    TP_STRUCT__entry(__array(char, device, IB_DEVICE_NAME_MAX)
			     __field(u32, id)
			     __field(u32, key)
			     __field(u32, from)
			     __field(u32, to)
	    ),
	    TP_fast_assign(strscpy(__entry->device, device,
				   IB_DEVICE_NAME_MAX);
			   __entry->id = id;
			   __entry->key = key;
			   __entry->from = from;
			   __entry->to = to;
	    ),
	    TP_printk("device=%s id=%u key=%#x from=%u to=%u",
		      __entry->device, __entry->id, __entry->key,
		      __entry->from, __entry->to)
);

/* The last trace of an MR has gone: id, and key of what goes back. */
TRACE_EVENT(rext_mr_gone,
	    TP_PROTO(const char *device, u32 id, u32 key),
	    TP_ARGS(device, id, key),
	    TP_STRUCT__entry(__array(char, device, IB_DEVICE_NAME_MAX)
			     __field(u32, id)
			     __field(u32, key)
	    ),
	    TP_fast_assign(strscpy(__entry->device, device,
				   IB_DEVICE_NAME_MAX);
			   __entry->id = id;
			   __entry->key = key;
	    ),
	    TP_printk("device=%s id=%u key=%#x", __entry->device, __entry->id,
		      __entry->key)
);

#endif /* RDS_EXT_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
