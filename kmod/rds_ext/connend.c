// SPDX-License-Identifier: GPL-2.0
#include <linux/kernel.h>
#include <rdma/rdma_cm.h>

#include "rds.h"
#include "rds_hooks.h"

#include "conn.h"
#include "connend.h"
#include "rds_ext_uapi.h"

/**
 * rext_connend_error() - net/rds is about to give up an IB connection
 * @rds: the connection
 * @error: what happened
 * @status: status of the completion (enum ib_wc_status)
 *
 * Context: softirq; under rcu_read_lock().
 */
void rext_connend_error(struct rds_connection *rds, enum rds_hooks_error error,
			unsigned int status)
{
	struct rext_end end = { .set = true, .has_code = true, .code = status };

	switch (error) {
	case RDS_HOOKS_SEND_ERROR:
		end.reason = RDS_EXT_END_REASON_SEND_ERROR;
		break;
	case RDS_HOOKS_RECEIVE_ERROR:
		end.reason = RDS_EXT_END_REASON_RECEIVE_ERROR;
		break;
	case RDS_HOOKS_BAD_MESSAGE:
		end.reason = RDS_EXT_END_REASON_BAD_MESSAGE;
		end.has_code = false;
		break;
	}
	rext_conn_ending(rds, &end);
}

/**
 * rext_connend_cm_event() - the connection manager has news of a connection
 * @rds: the connection
 * @event: the news; most make net/rds drop the connection
 *
 * Context: process; under rcu_read_lock().
 */
void rext_connend_cm_event(struct rds_connection *rds,
			   const struct rdma_cm_event *event)
{
	struct rext_end end = { .set = true };

	switch (event->event) {
	case RDMA_CM_EVENT_DISCONNECTED:
		end.reason = RDS_EXT_END_REASON_DISCONNECTED;
		break;
	case RDMA_CM_EVENT_REJECTED:
		end.reason = RDS_EXT_END_REASON_REJECTED;
		end.has_code = true;
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		end.reason = RDS_EXT_END_REASON_UNREACHABLE;
		end.has_code = true;
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
		end.reason = RDS_EXT_END_REASON_ADDR_ERROR;
		end.has_code = true;
		break;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		end.reason = RDS_EXT_END_REASON_ROUTE_ERROR;
		end.has_code = true;
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		end.reason = RDS_EXT_END_REASON_CONNECT_ERROR;
		end.has_code = true;
		break;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		end.reason = RDS_EXT_END_REASON_ADDR_CHANGE;
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		end.reason = RDS_EXT_END_REASON_DEVICE_REMOVED;
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		end.reason = RDS_EXT_END_REASON_TIMEWAIT_EXIT;
		break;
	default:
		return;
	}
	/* A reason of the wire is positive, an error number negative. */
	if (end.has_code)
		end.code = abs(event->status);
	rext_conn_ending(rds, &end);
}
