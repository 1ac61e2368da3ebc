/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * Made from rds_ext.yaml by gonl/internal/specgen. Change the YAML file and run
 * "go generate ./gonl" instead of editing this one.
 *
 * Generic netlink family "rds_ext". Control plane of rds_ext.ko: the
 * connections of RDS with the protocol version and features that each side
 * announced, the counters of the extension headers, the memory regions (MRs) of
 * the MR engine with their pools, and the settings of the module.
 *
 * RDS_EXT_CMD_CONN_GET
 *   Get one connection by id, or by local-addr, peer-addr, transport and tos
 *   (tos 0 where absent); or dump those that match all attributes of the
 *   request. Connections of other network namespaces are never shown.
 *   do request:
 *     RDS_EXT_A_CONN_ID: u32
 *     RDS_EXT_A_CONN_TRANSPORT: u32, one of RDS_EXT_TRANSPORT_*
 *     RDS_EXT_A_CONN_LOCAL_ADDR: binary, exactly 16 bytes
 *     RDS_EXT_A_CONN_PEER_ADDR: binary, exactly 16 bytes
 *     RDS_EXT_A_CONN_TOS: u8
 *   do reply:
 *     RDS_EXT_A_CONN_ID: u32
 *     RDS_EXT_A_CONN_TRANSPORT: u32, one of RDS_EXT_TRANSPORT_*
 *     RDS_EXT_A_CONN_LOCAL_ADDR: binary, exactly 16 bytes
 *     RDS_EXT_A_CONN_PEER_ADDR: binary, exactly 16 bytes
 *     RDS_EXT_A_CONN_TOS: u8
 *     RDS_EXT_A_CONN_STATE: u32, one of RDS_EXT_CONN_STATE_*
 *     RDS_EXT_A_CONN_PATHS: u32
 *     RDS_EXT_A_CONN_LOOPBACK: flag, no payload
 *     RDS_EXT_A_CONN_PASSIVE: flag, no payload
 *     RDS_EXT_A_CONN_VERSION: u32
 *     RDS_EXT_A_CONN_FEATURES: u32, bits of RDS_EXT_FEATURE_*
 *     RDS_EXT_A_CONN_PEER_VERSION: u32
 *     RDS_EXT_A_CONN_PEER_FEATURES: u32, bits of RDS_EXT_FEATURE_*
 *     RDS_EXT_A_CONN_AGREED_FEATURES: u32, bits of RDS_EXT_FEATURE_*
 *     RDS_EXT_A_CONN_LEARNT_FROM: u32, one of RDS_EXT_LEARNT_FROM_*
 *     RDS_EXT_A_CONN_PEER_KIND: u32, one of RDS_EXT_PEER_KIND_*
 *     RDS_EXT_A_CONN_UPS: u64
 *     RDS_EXT_A_CONN_DOWNS: u64
 *     RDS_EXT_A_CONN_UPTIME_MS: u64
 *     RDS_EXT_A_CONN_DOWN_MS: u64
 *     RDS_EXT_A_CONN_DOWN_REASON: u32, one of RDS_EXT_END_REASON_*
 *     RDS_EXT_A_CONN_DOWN_CODE: u32
 *     RDS_EXT_A_CONN_ATTEMPTS: u32
 *     RDS_EXT_A_CONN_ATTEMPT_REASON: u32, one of RDS_EXT_END_REASON_*
 *     RDS_EXT_A_CONN_ATTEMPT_CODE: u32
 *     RDS_EXT_A_CONN_DEVICE: string, NUL-terminated
 *     RDS_EXT_A_CONN_QP_NUM: u32
 *     RDS_EXT_A_CONN_SL: u8
 *     RDS_EXT_A_CONN_FLOW_CONTROL: flag, no payload
 *   dump request:
 *     RDS_EXT_A_CONN_TRANSPORT: u32, one of RDS_EXT_TRANSPORT_*
 *     RDS_EXT_A_CONN_LOCAL_ADDR: binary, exactly 16 bytes
 *     RDS_EXT_A_CONN_PEER_ADDR: binary, exactly 16 bytes
 *     RDS_EXT_A_CONN_TOS: u8
 *     RDS_EXT_A_CONN_STATE: u32, one of RDS_EXT_CONN_STATE_*
 *     RDS_EXT_A_CONN_VERSION: u32
 *     RDS_EXT_A_CONN_PEER_VERSION: u32
 *     RDS_EXT_A_CONN_PEER_KIND: u32, one of RDS_EXT_PEER_KIND_*
 *   dump reply: as in the do reply of RDS_EXT_CMD_CONN_GET
 *
 * RDS_EXT_CMD_EXTHDR_GET
 *   Dump the known extension header types, and each unknown one that was met,
 *   with counters.
 *   dump request: no attributes
 *   dump reply:
 *     RDS_EXT_A_EXTHDR_TYPE: u32
 *     RDS_EXT_A_EXTHDR_NAME: string, NUL-terminated
 *     RDS_EXT_A_EXTHDR_LENGTH: u32
 *     RDS_EXT_A_EXTHDR_TX: u64
 *     RDS_EXT_A_EXTHDR_RX: u64
 *     RDS_EXT_A_EXTHDR_TX_NO_ROOM: u64
 *     RDS_EXT_A_EXTHDR_TX_DUPLICATE: u64
 *     RDS_EXT_A_EXTHDR_TX_REJECTED: u64
 *     RDS_EXT_A_EXTHDR_RX_UNKNOWN: u64
 *     RDS_EXT_A_EXTHDR_RX_TRUNCATED: u64
 *     RDS_EXT_A_EXTHDR_RX_DUPLICATE: u64
 *
 * RDS_EXT_CMD_SETTINGS_GET
 *   Get all settings.
 *   do request: no attributes
 *   do reply:
 *     RDS_EXT_A_SETTINGS_VERSION_HEADER: u8, 0 to 1
 *     RDS_EXT_A_SETTINGS_FEATURE_MASK: u32, bits of RDS_EXT_FEATURE_*
 *     RDS_EXT_A_SETTINGS_SUPPORTED_FEATURES: u32, bits of RDS_EXT_FEATURE_*
 *     RDS_EXT_A_SETTINGS_PROTOCOL_VERSION: u32
 *     RDS_EXT_A_SETTINGS_MODULE_VERSION: string, NUL-terminated
 *     RDS_EXT_A_SETTINGS_MR_ENGINE: u8, 0 to 1
 *     RDS_EXT_A_SETTINGS_MR_POOL_MAX: u32, 16 to 1048576
 *     RDS_EXT_A_SETTINGS_MR_SOCK_MAX: u32
 *     RDS_EXT_A_SETTINGS_MR_SOCK_BYTES: u64
 *     RDS_EXT_A_SETTINGS_MR_MAX_AGE_MS: u32
 *     RDS_EXT_A_SETTINGS_MR_AGE_REVOKE: u8, 0 to 1
 *
 * RDS_EXT_CMD_SETTINGS_SET
 *   Change the settings that are present, all or none; at least one must be.
 *   Those of the protocol act on connections that are established from then on,
 *   those of MRs on MRs that are mapped from then on. Needs CAP_NET_ADMIN in
 *   the initial user namespace.
 *   Refused with EPERM without CAP_NET_ADMIN.
 *   do request:
 *     RDS_EXT_A_SETTINGS_VERSION_HEADER: u8, 0 to 1
 *     RDS_EXT_A_SETTINGS_FEATURE_MASK: u32, bits of RDS_EXT_FEATURE_*
 *     RDS_EXT_A_SETTINGS_MR_ENGINE: u8, 0 to 1
 *     RDS_EXT_A_SETTINGS_MR_POOL_MAX: u32, 16 to 1048576
 *     RDS_EXT_A_SETTINGS_MR_SOCK_MAX: u32
 *     RDS_EXT_A_SETTINGS_MR_SOCK_BYTES: u64
 *     RDS_EXT_A_SETTINGS_MR_MAX_AGE_MS: u32
 *     RDS_EXT_A_SETTINGS_MR_AGE_REVOKE: u8, 0 to 1
 *   do reply: no attributes
 *
 * RDS_EXT_CMD_CONN_UP
 *   A connection was established.
 *   event to group "conn": as in the do reply of RDS_EXT_CMD_CONN_GET
 *
 * RDS_EXT_CMD_CONN_DOWN
 *   An established connection was lost or closed.
 *   event to group "conn": as in the do reply of RDS_EXT_CMD_CONN_GET
 *
 * RDS_EXT_CMD_VERSION_LEARNT
 *   The peer's version header came in.
 *   event to group "conn": as in the do reply of RDS_EXT_CMD_CONN_GET
 *
 * RDS_EXT_CMD_MR_GET
 *   Get one MR by id, or dump those that match all attributes of the request.
 *   MRs of other network namespaces are never shown.
 *   do request:
 *     RDS_EXT_A_MR_ID: u32
 *   do reply:
 *     RDS_EXT_A_MR_ID: u32
 *     RDS_EXT_A_MR_DEVICE: string, NUL-terminated
 *     RDS_EXT_A_MR_PID: u32
 *     RDS_EXT_A_MR_COMMAND: string, NUL-terminated
 *     RDS_EXT_A_MR_UID: u32
 *     RDS_EXT_A_MR_SOCKET: u64
 *     RDS_EXT_A_MR_BOUND_ADDR: binary, exactly 16 bytes
 *     RDS_EXT_A_MR_BOUND_PORT: u32
 *     RDS_EXT_A_MR_RKEY: u32
 *     RDS_EXT_A_MR_LENGTH: u64
 *     RDS_EXT_A_MR_PAGES: u32
 *     RDS_EXT_A_MR_FLAGS: u32, bits of RDS_EXT_MR_FLAG_*
 *     RDS_EXT_A_MR_STATE: u32, one of RDS_EXT_MR_STATE_*
 *     RDS_EXT_A_MR_AGE_MS: u64
 *     RDS_EXT_A_MR_CONN_ID: u32
 *     RDS_EXT_A_MR_PEER_ADDR: binary, exactly 16 bytes
 *   dump request:
 *     RDS_EXT_A_MR_DEVICE: string, NUL-terminated
 *     RDS_EXT_A_MR_PID: u32
 *     RDS_EXT_A_MR_SOCKET: u64
 *     RDS_EXT_A_MR_STATE: u32, one of RDS_EXT_MR_STATE_*
 *     RDS_EXT_A_MR_CONN_ID: u32
 *   dump reply: as in the do reply of RDS_EXT_CMD_MR_GET
 *
 * RDS_EXT_CMD_MR_REVOKE
 *   Invalidate an MR and unpin its pages. Its owner still has to free it, which
 *   succeeds. Returns when the key is dead. Needs CAP_NET_ADMIN in the initial
 *   user namespace.
 *   Refused with EPERM without CAP_NET_ADMIN.
 *   do request: as in the do request of RDS_EXT_CMD_MR_GET
 *   do reply: no attributes
 *
 * RDS_EXT_CMD_MR_STATS_GET
 *   Get the counters of the MR engine.
 *   do request: no attributes
 *   do reply:
 *     RDS_EXT_A_MR_STATS_MAPPED: u64
 *     RDS_EXT_A_MR_STATS_LIVE: u64
 *     RDS_EXT_A_MR_STATS_ADVERTISED: u64
 *     RDS_EXT_A_MR_STATS_RELEASED: u64
 *     RDS_EXT_A_MR_STATS_REMOTELY_INVALIDATED: u64
 *     RDS_EXT_A_MR_STATS_FREED: u64
 *     RDS_EXT_A_MR_STATS_ORPHANED: u64
 *     RDS_EXT_A_MR_STATS_UNSENT: u64
 *     RDS_EXT_A_MR_STATS_EXPIRED: u64
 *     RDS_EXT_A_MR_STATS_REVOKED: u64
 *     RDS_EXT_A_MR_STATS_DEVICE_REMOVED: u64
 *     RDS_EXT_A_MR_STATS_FAILED: u64
 *     RDS_EXT_A_MR_STATS_AGED: u64
 *     RDS_EXT_A_MR_STATS_LIMITED_SOCKET: u64
 *     RDS_EXT_A_MR_STATS_LIMITED_USER: u64
 *     RDS_EXT_A_MR_STATS_LIMITED_POOL: u64
 *     RDS_EXT_A_MR_STATS_RELEASE_REFUSED: u64
 *     RDS_EXT_A_MR_STATS_INVALIDATE_FOREIGN: u64
 *
 * RDS_EXT_CMD_POOL_GET
 *   Dump the pools, one for each RDMA device that the engine has used.
 *   dump request: no attributes
 *   dump reply:
 *     RDS_EXT_A_POOL_DEVICE: string, NUL-terminated
 *     RDS_EXT_A_POOL_LIMIT: u32
 *     RDS_EXT_A_POOL_MRS: u32
 *     RDS_EXT_A_POOL_MRS_PEAK: u32
 *     RDS_EXT_A_POOL_IN_USE: u32
 *     RDS_EXT_A_POOL_IN_USE_PEAK: u32
 *     RDS_EXT_A_POOL_INVALIDATING: u32
 *     RDS_EXT_A_POOL_FREE: u32
 *     RDS_EXT_A_POOL_QUARANTINED: u32
 *     RDS_EXT_A_POOL_PINNED_PAGES: u64
 *     RDS_EXT_A_POOL_PINNED_PAGES_PEAK: u64
 *     RDS_EXT_A_POOL_ALLOCATED: u64
 *     RDS_EXT_A_POOL_DEALLOCATED: u64
 *     RDS_EXT_A_POOL_REGISTRATIONS: u64
 *     RDS_EXT_A_POOL_LOCAL_INVALIDATIONS: u64
 *     RDS_EXT_A_POOL_INVALIDATION_CHAINS: u64
 *     RDS_EXT_A_POOL_REMOTE_INVALIDATIONS: u64
 *     RDS_EXT_A_POOL_RECOVERIES: u64
 *     RDS_EXT_A_POOL_STALE_REPLACED: u64
 *     RDS_EXT_A_POOL_EXHAUSTED: u64
 *
 * RDS_EXT_CMD_POOL_RESET_PEAKS
 *   Set the peaks of all pools to what they hold now. Needs CAP_NET_ADMIN in
 *   the initial user namespace.
 *   Refused with EPERM without CAP_NET_ADMIN.
 *   do request: no attributes
 *   do reply: no attributes
 *
 * RDS_EXT_CMD_MR_AGED
 *   A use-once MR has reached the age of the setting.
 *   event to group "mr": as in the do reply of RDS_EXT_CMD_MR_GET
 *
 * RDS_EXT_CMD_MR_REVOKED
 *   An MR was revoked, by an operator or for its age.
 *   event to group "mr": as in the do reply of RDS_EXT_CMD_MR_GET
 *
 * RDS_EXT_CMD_CONN_RESET
 *   Drop the connection with the id, or those that match all other attributes
 *   of the request, of which there must be one; they are set up anew. Messages
 *   that wait are sent then, those with an RDMA operation under way end with an
 *   error. Where none matches, ENOENT. Needs CAP_NET_ADMIN in the user
 *   namespace of the network namespace.
 *   Refused with EPERM without CAP_NET_ADMIN.
 *   do request:
 *     RDS_EXT_A_CONN_ID: u32
 *     RDS_EXT_A_CONN_TRANSPORT: u32, one of RDS_EXT_TRANSPORT_*
 *     RDS_EXT_A_CONN_LOCAL_ADDR: binary, exactly 16 bytes
 *     RDS_EXT_A_CONN_PEER_ADDR: binary, exactly 16 bytes
 *     RDS_EXT_A_CONN_TOS: u8
 *     RDS_EXT_A_CONN_STATE: u32, one of RDS_EXT_CONN_STATE_*
 *     RDS_EXT_A_CONN_VERSION: u32
 *     RDS_EXT_A_CONN_PEER_VERSION: u32
 *     RDS_EXT_A_CONN_PEER_KIND: u32, one of RDS_EXT_PEER_KIND_*
 *   do reply:
 *     RDS_EXT_A_CONN_RESETS: u32
 */

#ifndef _RDS_EXT_UAPI_H
#define _RDS_EXT_UAPI_H

#define RDS_EXT_FAMILY_NAME    "rds_ext"
#define RDS_EXT_FAMILY_VERSION 1

/* Multicast group of the events. */
#define RDS_EXT_MCGRP_CONN "conn"

/* Multicast group of the events. */
#define RDS_EXT_MCGRP_MR "mr"

/* Protocol version that this module announces (major in the high byte). */
#define RDS_EXT_PROTOCOL_VERSION 0x0301

/**
 * enum rds_ext_transport - Transport that carries a connection.
 * @RDS_EXT_TRANSPORT_IB: InfiniBand or RoCE through rdma_cm.
 * @RDS_EXT_TRANSPORT_TCP: TCP.
 * @RDS_EXT_TRANSPORT_LOOP: Loopback inside this host.
 */
enum rds_ext_transport {
	RDS_EXT_TRANSPORT_IB = 0,
	RDS_EXT_TRANSPORT_TCP = 2,
	RDS_EXT_TRANSPORT_LOOP = 3,

	/* private: */
	RDS_EXT_TRANSPORT_MAX = RDS_EXT_TRANSPORT_LOOP,
};

/**
 * enum rds_ext_conn_state - State of a connection (of path 0 where a connection
 *   has several).
 * @RDS_EXT_CONN_STATE_DOWN: No connection, and none is being set up.
 * @RDS_EXT_CONN_STATE_CONNECTING: Address resolution, route resolution or
 *   connection set-up is under way.
 * @RDS_EXT_CONN_STATE_DISCONNECTING: The connection is being torn down.
 * @RDS_EXT_CONN_STATE_UP: Established.
 * @RDS_EXT_CONN_STATE_RESETTING: The transport replaces its connection (TCP).
 * @RDS_EXT_CONN_STATE_ERROR: Failed, waiting to be torn down.
 */
enum rds_ext_conn_state {
	RDS_EXT_CONN_STATE_DOWN = 0,
	RDS_EXT_CONN_STATE_CONNECTING = 1,
	RDS_EXT_CONN_STATE_DISCONNECTING = 2,
	RDS_EXT_CONN_STATE_UP = 3,
	RDS_EXT_CONN_STATE_RESETTING = 4,
	RDS_EXT_CONN_STATE_ERROR = 5,

	/* private: */
	RDS_EXT_CONN_STATE_MAX = RDS_EXT_CONN_STATE_ERROR,
};

/**
 * enum rds_ext_learnt_from - How the peer's protocol version was learnt on this
 *   incarnation.
 * @RDS_EXT_LEARNT_FROM_NOTHING: Not learnt.
 * @RDS_EXT_LEARNT_FROM_CM_PRIVATE_DATA: From the private data of the connection
 *   manager's messages; every IB peer sends it.
 * @RDS_EXT_LEARNT_FROM_FIRST_PACKET: From the version extension header; only
 *   peers that run rds_ext send it.
 */
enum rds_ext_learnt_from {
	RDS_EXT_LEARNT_FROM_NOTHING = 0,
	RDS_EXT_LEARNT_FROM_CM_PRIVATE_DATA = 1,
	RDS_EXT_LEARNT_FROM_FIRST_PACKET = 2,

	/* private: */
	RDS_EXT_LEARNT_FROM_MAX = RDS_EXT_LEARNT_FROM_FIRST_PACKET,
};

/**
 * enum rds_ext_peer_kind - What the peer has shown itself to be on this
 *   incarnation.
 * @RDS_EXT_PEER_KIND_UNKNOWN: Nothing has come yet that tells.
 * @RDS_EXT_PEER_KIND_STOCK: It sent a header that had room for a version
 *   header, without one.
 * @RDS_EXT_PEER_KIND_RDS_EXT: It announced its version and features.
 */
enum rds_ext_peer_kind {
	RDS_EXT_PEER_KIND_UNKNOWN = 0,
	RDS_EXT_PEER_KIND_STOCK = 1,
	RDS_EXT_PEER_KIND_RDS_EXT = 2,

	/* private: */
	RDS_EXT_PEER_KIND_MAX = RDS_EXT_PEER_KIND_RDS_EXT,
};

/**
 * enum rds_ext_end_reason - Why an incarnation of a connection, or an attempt
 *   to set one up, has ended. What its code says is given in parentheses.
 * @RDS_EXT_END_REASON_UNKNOWN: net/rds or the transport ended it, for a reason
 *   that is not told apart.
 * @RDS_EXT_END_REASON_RESET: By an operator, with conn-reset.
 * @RDS_EXT_END_REASON_SEND_ERROR: A send or RDMA operation completed with an
 *   error (enum ib_wc_status).
 * @RDS_EXT_END_REASON_RECEIVE_ERROR: A receive completed with an error (enum
 *   ib_wc_status).
 * @RDS_EXT_END_REASON_BAD_MESSAGE: A message came in that is too short, has a
 *   wrong checksum, or is a fragment of another one.
 * @RDS_EXT_END_REASON_DISCONNECTED: The peer closed it, or its host went away
 *   in order.
 * @RDS_EXT_END_REASON_REJECTED: The peer refused it (reason of the connection
 *   manager; 8 where nobody listens there, 28 where RDS refused).
 * @RDS_EXT_END_REASON_UNREACHABLE: The peer did not answer (error number).
 * @RDS_EXT_END_REASON_ADDR_ERROR: The peer's address could not be resolved
 *   (error number).
 * @RDS_EXT_END_REASON_ROUTE_ERROR: No route to the peer was found (error
 *   number).
 * @RDS_EXT_END_REASON_CONNECT_ERROR: The connection manager could not set it up
 *   (error number).
 * @RDS_EXT_END_REASON_ADDR_CHANGE: This side's address has moved to another
 *   device.
 * @RDS_EXT_END_REASON_DEVICE_REMOVED: The RDMA device is gone.
 * @RDS_EXT_END_REASON_TIMEWAIT_EXIT: The connection manager had left it behind
 *   in its time-wait state.
 */
enum rds_ext_end_reason {
	RDS_EXT_END_REASON_UNKNOWN = 0,
	RDS_EXT_END_REASON_RESET = 1,
	RDS_EXT_END_REASON_SEND_ERROR = 2,
	RDS_EXT_END_REASON_RECEIVE_ERROR = 3,
	RDS_EXT_END_REASON_BAD_MESSAGE = 4,
	RDS_EXT_END_REASON_DISCONNECTED = 5,
	RDS_EXT_END_REASON_REJECTED = 6,
	RDS_EXT_END_REASON_UNREACHABLE = 7,
	RDS_EXT_END_REASON_ADDR_ERROR = 8,
	RDS_EXT_END_REASON_ROUTE_ERROR = 9,
	RDS_EXT_END_REASON_CONNECT_ERROR = 10,
	RDS_EXT_END_REASON_ADDR_CHANGE = 11,
	RDS_EXT_END_REASON_DEVICE_REMOVED = 12,
	RDS_EXT_END_REASON_TIMEWAIT_EXIT = 13,

	/* private: */
	RDS_EXT_END_REASON_MAX = RDS_EXT_END_REASON_TIMEWAIT_EXIT,
};

/**
 * enum rds_ext_feature - Feature bits of the version extension header.
 * @RDS_EXT_FEATURE_EXT_TYPES: The sender parses the extension header types of
 *   this project (9 and up).
 * @RDS_EXT_FEATURE_REMOTE_INVALIDATE: The sender advertises use-once MRs that
 *   its peer may invalidate with the message behind the RDMA, and can so
 *   invalidate those of its peer.
 */
enum rds_ext_feature {
	RDS_EXT_FEATURE_EXT_TYPES = 1U << 0,
	RDS_EXT_FEATURE_REMOTE_INVALIDATE = 1U << 1,

	/* private: */
	RDS_EXT_FEATURE_MASK = RDS_EXT_FEATURE_EXT_TYPES |
		RDS_EXT_FEATURE_REMOTE_INVALIDATE,
};

/**
 * enum rds_ext_mr_state - State of an MR. Those up to advertised are of an MR
 *   in use; each of the others is a way to its end, kept until the last trace
 *   of the MR is gone.
 * @RDS_EXT_MR_STATE_REGISTERING: Pages are pinned and the registration is under
 *   way.
 * @RDS_EXT_MR_STATE_MAPPED: Registered; the application has the key, or is
 *   about to get it.
 * @RDS_EXT_MR_STATE_ADVERTISED: A message with the key has been handed to a
 *   connection.
 * @RDS_EXT_MR_STATE_RELEASED: Use-once, and the peer has told by an extension
 *   header that its RDMA is done.
 * @RDS_EXT_MR_STATE_REMOTELY_INVALIDATED: Use-once, and the message behind the
 *   peer's RDMA has invalidated the key.
 * @RDS_EXT_MR_STATE_FREED: By the application, with RDS_FREE_MR.
 * @RDS_EXT_MR_STATE_ORPHANED: Its socket was closed.
 * @RDS_EXT_MR_STATE_UNSENT: The sendmsg() that mapped it has failed.
 * @RDS_EXT_MR_STATE_EXPIRED: Use-once, older than the setting allows, and
 *   revoked for that.
 * @RDS_EXT_MR_STATE_REVOKED: By an operator, with mr-revoke.
 * @RDS_EXT_MR_STATE_DEVICE_REMOVED: Its RDMA device is gone.
 */
enum rds_ext_mr_state {
	RDS_EXT_MR_STATE_REGISTERING = 0,
	RDS_EXT_MR_STATE_MAPPED = 1,
	RDS_EXT_MR_STATE_ADVERTISED = 2,
	RDS_EXT_MR_STATE_RELEASED = 3,
	RDS_EXT_MR_STATE_REMOTELY_INVALIDATED = 4,
	RDS_EXT_MR_STATE_FREED = 5,
	RDS_EXT_MR_STATE_ORPHANED = 6,
	RDS_EXT_MR_STATE_UNSENT = 7,
	RDS_EXT_MR_STATE_EXPIRED = 8,
	RDS_EXT_MR_STATE_REVOKED = 9,
	RDS_EXT_MR_STATE_DEVICE_REMOVED = 10,

	/* private: */
	RDS_EXT_MR_STATE_MAX = RDS_EXT_MR_STATE_DEVICE_REMOVED,
};

/**
 * enum rds_ext_mr_flag - Properties of an MR.
 * @RDS_EXT_MR_FLAG_USE_ONCE: Mapped with RDS_RDMA_USE_ONCE.
 * @RDS_EXT_MR_FLAG_INVALIDATE: Mapped with RDS_RDMA_INVALIDATE.
 * @RDS_EXT_MR_FLAG_READWRITE: Mapped with RDS_RDMA_READWRITE.
 * @RDS_EXT_MR_FLAG_IN_SENDMSG: Mapped by a control message of sendmsg()
 *   (RDS_CMSG_RDMA_MAP).
 * @RDS_EXT_MR_FLAG_FOR_DEST: Mapped for one peer (RDS_GET_MR_FOR_DEST).
 * @RDS_EXT_MR_FLAG_REMOTE_INVALIDATE: Advertised with leave to invalidate it
 *   remotely.
 * @RDS_EXT_MR_FLAG_INVALIDATING: Its end has come; the key is being
 *   invalidated, then its pages are unpinned.
 * @RDS_EXT_MR_FLAG_AGED: Use-once, and mr-aged was sent for it.
 */
enum rds_ext_mr_flag {
	RDS_EXT_MR_FLAG_USE_ONCE = 1U << 0,
	RDS_EXT_MR_FLAG_INVALIDATE = 1U << 1,
	RDS_EXT_MR_FLAG_READWRITE = 1U << 2,
	RDS_EXT_MR_FLAG_IN_SENDMSG = 1U << 3,
	RDS_EXT_MR_FLAG_FOR_DEST = 1U << 4,
	RDS_EXT_MR_FLAG_REMOTE_INVALIDATE = 1U << 5,
	RDS_EXT_MR_FLAG_INVALIDATING = 1U << 6,
	RDS_EXT_MR_FLAG_AGED = 1U << 7,

	/* private: */
	RDS_EXT_MR_FLAG_MASK = RDS_EXT_MR_FLAG_USE_ONCE |
		RDS_EXT_MR_FLAG_INVALIDATE |
		RDS_EXT_MR_FLAG_READWRITE |
		RDS_EXT_MR_FLAG_IN_SENDMSG |
		RDS_EXT_MR_FLAG_FOR_DEST |
		RDS_EXT_MR_FLAG_REMOTE_INVALIDATE |
		RDS_EXT_MR_FLAG_INVALIDATING |
		RDS_EXT_MR_FLAG_AGED,
};

/**
 * enum rds_ext_a_conn - Attributes: A connection. It lives as long as the
 *   kernel's connection object, across reconnects.
 * @RDS_EXT_A_CONN_ID: u32. Identifies the connection until it is destroyed. 1
 *   and up, unique on this host, never used twice before 2^32 connections were
 *   made.
 * @RDS_EXT_A_CONN_TRANSPORT: u32, one of enum rds_ext_transport. Transport of
 *   the connection.
 * @RDS_EXT_A_CONN_LOCAL_ADDR: binary, exactly 16 bytes. This side's address;
 *   IPv4 addresses are v4-mapped.
 * @RDS_EXT_A_CONN_PEER_ADDR: binary, exactly 16 bytes. The peer's address; IPv4
 *   addresses are v4-mapped.
 * @RDS_EXT_A_CONN_TOS: u8. Type of service, part of the connection's identity.
 * @RDS_EXT_A_CONN_STATE: u32, one of enum rds_ext_conn_state. State of path 0.
 * @RDS_EXT_A_CONN_PATHS: u32. Number of paths (more than 1 only over TCP).
 * @RDS_EXT_A_CONN_LOOPBACK: flag, no payload. Present where the peer's address
 *   belongs to this host.
 * @RDS_EXT_A_CONN_PASSIVE: flag, no payload. Present on the accepting half of a
 *   connection of this host to itself.
 * @RDS_EXT_A_CONN_VERSION: u32. Protocol version that this side speaks on the
 *   connection, as 0xMMmm; 0 where it is not settled.
 * @RDS_EXT_A_CONN_FEATURES: u32, bits of enum rds_ext_feature. Feature bits
 *   that this side announced on this incarnation; absent while it has announced
 *   none.
 * @RDS_EXT_A_CONN_PEER_VERSION: u32. The peer's protocol version, as 0xMMmm;
 *   absent while it is not learnt.
 * @RDS_EXT_A_CONN_PEER_FEATURES: u32, bits of enum rds_ext_feature. Feature
 *   bits that the peer announced on this incarnation; absent while it has
 *   announced none.
 * @RDS_EXT_A_CONN_AGREED_FEATURES: u32, bits of enum rds_ext_feature. Features
 *   in use, the intersection of both announcements; 0 until both sides have
 *   announced.
 * @RDS_EXT_A_CONN_LEARNT_FROM: u32, one of enum rds_ext_learnt_from. How the
 *   peer's version was learnt.
 * @RDS_EXT_A_CONN_PEER_KIND: u32, one of enum rds_ext_peer_kind. What the peer
 *   has shown itself to be.
 * @RDS_EXT_A_CONN_UPS: u64. How often the connection was established since
 *   rds_ext tracks it.
 * @RDS_EXT_A_CONN_DOWNS: u64. How often an established connection was lost or
 *   closed since rds_ext tracks it.
 * @RDS_EXT_A_CONN_UPTIME_MS: u64. Milliseconds since the connection was
 *   established, in conn-down how long it had been; absent while it is not up.
 *   Where it was up already when rds_ext was loaded, since then.
 * @RDS_EXT_A_CONN_PAD: Padding in front of 64-bit numbers, without meaning.
 * @RDS_EXT_A_CONN_DOWN_MS: u64. Milliseconds since the connection was lost or
 *   closed last; absent where it has not been since rds_ext tracks it.
 * @RDS_EXT_A_CONN_DOWN_REASON: u32, one of enum rds_ext_end_reason. Why it was
 *   lost or closed last; absent as down-ms is. In conn-down, why it is now.
 * @RDS_EXT_A_CONN_DOWN_CODE: u32. Code that belongs to down-reason; absent
 *   where that has none.
 * @RDS_EXT_A_CONN_ATTEMPTS: u32. Attempts to set it up that have failed since
 *   it was up last.
 * @RDS_EXT_A_CONN_ATTEMPT_REASON: u32, one of enum rds_ext_end_reason. Why the
 *   last of those failed; absent where there was none.
 * @RDS_EXT_A_CONN_ATTEMPT_CODE: u32. Code that belongs to attempt-reason;
 *   absent where that has none.
 * @RDS_EXT_A_CONN_DEVICE: string, NUL-terminated. Name of the RDMA device, over
 *   IB; absent while the connection is not up.
 * @RDS_EXT_A_CONN_QP_NUM: u32. Number of this side's queue pair, over IB;
 *   absent while the connection is not up.
 * @RDS_EXT_A_CONN_SL: u8. Service level of that queue pair; absent while the
 *   connection is not up.
 * @RDS_EXT_A_CONN_FLOW_CONTROL: flag, no payload. Present over IB where both
 *   sides have agreed to spend credits.
 * @RDS_EXT_A_CONN_RESETS: u32. Connections that conn-reset has reset.
 */
enum rds_ext_a_conn {
	RDS_EXT_A_CONN_ID = 1,
	RDS_EXT_A_CONN_TRANSPORT,
	RDS_EXT_A_CONN_LOCAL_ADDR,
	RDS_EXT_A_CONN_PEER_ADDR,
	RDS_EXT_A_CONN_TOS,
	RDS_EXT_A_CONN_STATE,
	RDS_EXT_A_CONN_PATHS,
	RDS_EXT_A_CONN_LOOPBACK,
	RDS_EXT_A_CONN_PASSIVE,
	RDS_EXT_A_CONN_VERSION,
	RDS_EXT_A_CONN_FEATURES,
	RDS_EXT_A_CONN_PEER_VERSION,
	RDS_EXT_A_CONN_PEER_FEATURES,
	RDS_EXT_A_CONN_AGREED_FEATURES,
	RDS_EXT_A_CONN_LEARNT_FROM,
	RDS_EXT_A_CONN_PEER_KIND,
	RDS_EXT_A_CONN_UPS,
	RDS_EXT_A_CONN_DOWNS,
	RDS_EXT_A_CONN_UPTIME_MS,
	RDS_EXT_A_CONN_PAD,
	RDS_EXT_A_CONN_DOWN_MS,
	RDS_EXT_A_CONN_DOWN_REASON,
	RDS_EXT_A_CONN_DOWN_CODE,
	RDS_EXT_A_CONN_ATTEMPTS,
	RDS_EXT_A_CONN_ATTEMPT_REASON,
	RDS_EXT_A_CONN_ATTEMPT_CODE,
	RDS_EXT_A_CONN_DEVICE,
	RDS_EXT_A_CONN_QP_NUM,
	RDS_EXT_A_CONN_SL,
	RDS_EXT_A_CONN_FLOW_CONTROL,
	RDS_EXT_A_CONN_RESETS,

	/* private: */
	__RDS_EXT_A_CONN_MAX,
	RDS_EXT_A_CONN_MAX = (__RDS_EXT_A_CONN_MAX - 1),
};

/**
 * enum rds_ext_a_exthdr - Attributes: An extension header type with its
 *   counters, over all connections of this host.
 * @RDS_EXT_A_EXTHDR_TYPE: u32. Type number, 1 to 255.
 * @RDS_EXT_A_EXTHDR_NAME: string, NUL-terminated. Name of the type; absent
 *   where this module does not know it.
 * @RDS_EXT_A_EXTHDR_LENGTH: u32. Length of the payload in bytes; absent where
 *   this module does not know the type.
 * @RDS_EXT_A_EXTHDR_TX: u64. Put into a message. Those of the TCP handshake
 *   (NPATHS, GEN_NUM, SPORT_IDX) are left to the kernel and counted only when
 *   received.
 * @RDS_EXT_A_EXTHDR_RX: u64. Received and understood.
 * @RDS_EXT_A_EXTHDR_TX_NO_ROOM: u64. Not sent, for want of room in the header.
 * @RDS_EXT_A_EXTHDR_TX_DUPLICATE: u64. Not sent a second time, since the
 *   message carried one with other contents already.
 * @RDS_EXT_A_EXTHDR_TX_REJECTED: u64. Not sent, since the type is unknown or
 *   the extension space of the message does not parse.
 * @RDS_EXT_A_EXTHDR_RX_UNKNOWN: u64. Received without knowing the type; the
 *   rest of the header was not parsed.
 * @RDS_EXT_A_EXTHDR_RX_TRUNCATED: u64. Received with a payload that runs past
 *   the end of the header.
 * @RDS_EXT_A_EXTHDR_RX_DUPLICATE: u64. Received for the second time in one
 *   message, and ignored.
 * @RDS_EXT_A_EXTHDR_PAD: Padding in front of 64-bit numbers, without meaning.
 */
enum rds_ext_a_exthdr {
	RDS_EXT_A_EXTHDR_TYPE = 1,
	RDS_EXT_A_EXTHDR_NAME,
	RDS_EXT_A_EXTHDR_LENGTH,
	RDS_EXT_A_EXTHDR_TX,
	RDS_EXT_A_EXTHDR_RX,
	RDS_EXT_A_EXTHDR_TX_NO_ROOM,
	RDS_EXT_A_EXTHDR_TX_DUPLICATE,
	RDS_EXT_A_EXTHDR_TX_REJECTED,
	RDS_EXT_A_EXTHDR_RX_UNKNOWN,
	RDS_EXT_A_EXTHDR_RX_TRUNCATED,
	RDS_EXT_A_EXTHDR_RX_DUPLICATE,
	RDS_EXT_A_EXTHDR_PAD,

	/* private: */
	__RDS_EXT_A_EXTHDR_MAX,
	RDS_EXT_A_EXTHDR_MAX = (__RDS_EXT_A_EXTHDR_MAX - 1),
};

/**
 * enum rds_ext_a_settings - Attributes: Settings of the module. They hold for
 *   the whole host, and until the module is unloaded.
 * @RDS_EXT_A_SETTINGS_VERSION_HEADER: u8, 0 to 1. 1 to announce version and
 *   features on each newly established connection, 0 not to. Default 1.
 * @RDS_EXT_A_SETTINGS_FEATURE_MASK: u32, bits of enum rds_ext_feature. Features
 *   that may be announced on newly established connections. Bits outside
 *   supported-features are rejected. Default all supported.
 * @RDS_EXT_A_SETTINGS_SUPPORTED_FEATURES: u32, bits of enum rds_ext_feature.
 *   Features that this module knows. Read only.
 * @RDS_EXT_A_SETTINGS_PROTOCOL_VERSION: u32. Protocol version that this module
 *   announces, as 0xMMmm. Read only.
 * @RDS_EXT_A_SETTINGS_MODULE_VERSION: string, NUL-terminated. Version of
 *   rds_ext.ko. Read only.
 * @RDS_EXT_A_SETTINGS_MR_ENGINE: u8, 0 to 1. 1 to register new MRs with the MR
 *   engine, 0 to leave them to net/rds, so that the engine drains and the
 *   module can be unloaded. Default 1.
 * @RDS_EXT_A_SETTINGS_MR_POOL_MAX: u32, 16 to 1048576. MRs that the engine
 *   allocates for each RDMA device at most, never more than half of what the
 *   device has. Default 32768. At the limit new MRs fail with ENOBUFS; those
 *   above a lowered one go as they are freed.
 * @RDS_EXT_A_SETTINGS_MR_SOCK_MAX: u32. MRs of each socket at most, 0 for no
 *   limit. Default 0. At the limit new MRs fail with ENOBUFS.
 * @RDS_EXT_A_SETTINGS_MR_SOCK_BYTES: u64. Bytes that the MRs of each socket pin
 *   at most, in whole pages; 0 for no limit. Default 0. At the limit new MRs
 *   fail with ENOBUFS.
 * @RDS_EXT_A_SETTINGS_MR_MAX_AGE_MS: u32. Milliseconds after which a use-once
 *   MR that is still in use raises mr-aged, to within a second; 0 for never.
 *   Default 60000.
 * @RDS_EXT_A_SETTINGS_MR_AGE_REVOKE: u8, 0 to 1. 1 to revoke a use-once MR of
 *   that age, 0 to leave it. Default 0.
 * @RDS_EXT_A_SETTINGS_PAD: Padding in front of 64-bit numbers, without meaning.
 */
enum rds_ext_a_settings {
	RDS_EXT_A_SETTINGS_VERSION_HEADER = 1,
	RDS_EXT_A_SETTINGS_FEATURE_MASK,
	RDS_EXT_A_SETTINGS_SUPPORTED_FEATURES,
	RDS_EXT_A_SETTINGS_PROTOCOL_VERSION,
	RDS_EXT_A_SETTINGS_MODULE_VERSION,
	RDS_EXT_A_SETTINGS_MR_ENGINE,
	RDS_EXT_A_SETTINGS_MR_POOL_MAX,
	RDS_EXT_A_SETTINGS_MR_SOCK_MAX,
	RDS_EXT_A_SETTINGS_MR_SOCK_BYTES,
	RDS_EXT_A_SETTINGS_MR_MAX_AGE_MS,
	RDS_EXT_A_SETTINGS_MR_AGE_REVOKE,
	RDS_EXT_A_SETTINGS_PAD,

	/* private: */
	__RDS_EXT_A_SETTINGS_MAX,
	RDS_EXT_A_SETTINGS_MAX = (__RDS_EXT_A_SETTINGS_MAX - 1),
};

/**
 * enum rds_ext_a_mr - Attributes: A memory region of the MR engine. MRs that
 *   net/rds registered itself are not shown.
 * @RDS_EXT_A_MR_ID: u32. Identifies the MR until it is gone. 1 and up, unique
 *   on this host, never used twice before 2^32 MRs were made.
 * @RDS_EXT_A_MR_DEVICE: string, NUL-terminated. Name of the RDMA device, e.g.
 *   "rxe0".
 * @RDS_EXT_A_MR_PID: u32. Process that mapped it, as the initial process
 *   namespace numbers it.
 * @RDS_EXT_A_MR_COMMAND: string, NUL-terminated. Command name of that process,
 *   up to 15 bytes.
 * @RDS_EXT_A_MR_UID: u32. User that its pinned pages are charged to, as the
 *   initial user namespace numbers it.
 * @RDS_EXT_A_MR_SOCKET: u64. Inode number of its socket, as in /proc/PID/fd; 0
 *   where the socket has none.
 * @RDS_EXT_A_MR_BOUND_ADDR: binary, exactly 16 bytes. Address of that socket;
 *   IPv4 addresses are v4-mapped.
 * @RDS_EXT_A_MR_BOUND_PORT: u32. Port of that socket.
 * @RDS_EXT_A_MR_RKEY: u32. R_Key. Present only for a reader with CAP_NET_ADMIN
 *   in the initial user namespace, and while the key is valid.
 * @RDS_EXT_A_MR_LENGTH: u64. Length in bytes, as the application gave it.
 * @RDS_EXT_A_MR_PAGES: u32. Pages that it pins.
 * @RDS_EXT_A_MR_FLAGS: u32, bits of enum rds_ext_mr_flag. Properties.
 * @RDS_EXT_A_MR_STATE: u32, one of enum rds_ext_mr_state. State.
 * @RDS_EXT_A_MR_AGE_MS: u64. Milliseconds since it was registered.
 * @RDS_EXT_A_MR_CONN_ID: u32. Connection that a message carried the key on
 *   last; absent where none did, or the connection is gone.
 * @RDS_EXT_A_MR_PEER_ADDR: binary, exactly 16 bytes. Peer that the key was
 *   advertised to last, or that it was mapped for; absent where there is none.
 * @RDS_EXT_A_MR_PAD: Padding in front of 64-bit numbers, without meaning.
 */
enum rds_ext_a_mr {
	RDS_EXT_A_MR_ID = 1,
	RDS_EXT_A_MR_DEVICE,
	RDS_EXT_A_MR_PID,
	RDS_EXT_A_MR_COMMAND,
	RDS_EXT_A_MR_UID,
	RDS_EXT_A_MR_SOCKET,
	RDS_EXT_A_MR_BOUND_ADDR,
	RDS_EXT_A_MR_BOUND_PORT,
	RDS_EXT_A_MR_RKEY,
	RDS_EXT_A_MR_LENGTH,
	RDS_EXT_A_MR_PAGES,
	RDS_EXT_A_MR_FLAGS,
	RDS_EXT_A_MR_STATE,
	RDS_EXT_A_MR_AGE_MS,
	RDS_EXT_A_MR_CONN_ID,
	RDS_EXT_A_MR_PEER_ADDR,
	RDS_EXT_A_MR_PAD,

	/* private: */
	__RDS_EXT_A_MR_MAX,
	RDS_EXT_A_MR_MAX = (__RDS_EXT_A_MR_MAX - 1),
};

/**
 * enum rds_ext_a_pool - Attributes: The MRs of one RDMA device, and the queue
 *   pair that registers and invalidates them.
 * @RDS_EXT_A_POOL_DEVICE: string, NUL-terminated. Name of the RDMA device.
 * @RDS_EXT_A_POOL_LIMIT: u32. MRs that may be allocated.
 * @RDS_EXT_A_POOL_MRS: u32. MRs that are allocated.
 * @RDS_EXT_A_POOL_MRS_PEAK: u32. Most MRs that were allocated at one time,
 *   since the engine knows the device or pool-reset-peaks.
 * @RDS_EXT_A_POOL_IN_USE: u32. MRs that are registered or about to be.
 * @RDS_EXT_A_POOL_IN_USE_PEAK: u32. Most of those at one time.
 * @RDS_EXT_A_POOL_INVALIDATING: u32. MRs whose end has come and whose keys are
 *   not invalidated yet.
 * @RDS_EXT_A_POOL_FREE: u32. MRs that are ready for use.
 * @RDS_EXT_A_POOL_QUARANTINED: u32. Invalid MRs that keep their key for now,
 *   since a peer may still name it in a message that invalidates.
 * @RDS_EXT_A_POOL_PINNED_PAGES: u64. Pages that are pinned.
 * @RDS_EXT_A_POOL_PINNED_PAGES_PEAK: u64. Most pages that were pinned at one
 *   time.
 * @RDS_EXT_A_POOL_ALLOCATED: u64. How often an MR was allocated.
 * @RDS_EXT_A_POOL_DEALLOCATED: u64. How often one was deallocated.
 * @RDS_EXT_A_POOL_REGISTRATIONS: u64. Registrations that were posted.
 * @RDS_EXT_A_POOL_LOCAL_INVALIDATIONS: u64. Local invalidations that were
 *   posted.
 * @RDS_EXT_A_POOL_INVALIDATION_CHAINS: u64. Chains that these were posted in;
 *   each has one completion.
 * @RDS_EXT_A_POOL_REMOTE_INVALIDATIONS: u64. MRs that a peer's message has
 *   invalidated.
 * @RDS_EXT_A_POOL_RECOVERIES: u64. How often the queue pair was brought back
 *   from an error.
 * @RDS_EXT_A_POOL_STALE_REPLACED: u64. MRs that were deallocated since an error
 *   left their state unknown.
 * @RDS_EXT_A_POOL_EXHAUSTED: u64. How often the pool was at its limit.
 * @RDS_EXT_A_POOL_PAD: Padding in front of 64-bit numbers, without meaning.
 */
enum rds_ext_a_pool {
	RDS_EXT_A_POOL_DEVICE = 1,
	RDS_EXT_A_POOL_LIMIT,
	RDS_EXT_A_POOL_MRS,
	RDS_EXT_A_POOL_MRS_PEAK,
	RDS_EXT_A_POOL_IN_USE,
	RDS_EXT_A_POOL_IN_USE_PEAK,
	RDS_EXT_A_POOL_INVALIDATING,
	RDS_EXT_A_POOL_FREE,
	RDS_EXT_A_POOL_QUARANTINED,
	RDS_EXT_A_POOL_PINNED_PAGES,
	RDS_EXT_A_POOL_PINNED_PAGES_PEAK,
	RDS_EXT_A_POOL_ALLOCATED,
	RDS_EXT_A_POOL_DEALLOCATED,
	RDS_EXT_A_POOL_REGISTRATIONS,
	RDS_EXT_A_POOL_LOCAL_INVALIDATIONS,
	RDS_EXT_A_POOL_INVALIDATION_CHAINS,
	RDS_EXT_A_POOL_REMOTE_INVALIDATIONS,
	RDS_EXT_A_POOL_RECOVERIES,
	RDS_EXT_A_POOL_STALE_REPLACED,
	RDS_EXT_A_POOL_EXHAUSTED,
	RDS_EXT_A_POOL_PAD,

	/* private: */
	__RDS_EXT_A_POOL_MAX,
	RDS_EXT_A_POOL_MAX = (__RDS_EXT_A_POOL_MAX - 1),
};

/**
 * enum rds_ext_a_mr_stats - Attributes: What became of all MRs of the engine
 *   since it was loaded. mapped is the sum of the ways to an end and of live.
 * @RDS_EXT_A_MR_STATS_MAPPED: u64. Registered.
 * @RDS_EXT_A_MR_STATS_LIVE: u64. Not at their end yet.
 * @RDS_EXT_A_MR_STATS_ADVERTISED: u64. Advertised, each MR once.
 * @RDS_EXT_A_MR_STATS_RELEASED: u64. Ended as released.
 * @RDS_EXT_A_MR_STATS_REMOTELY_INVALIDATED: u64. Ended as remotely-invalidated.
 * @RDS_EXT_A_MR_STATS_FREED: u64. Ended as freed.
 * @RDS_EXT_A_MR_STATS_ORPHANED: u64. Ended as orphaned.
 * @RDS_EXT_A_MR_STATS_UNSENT: u64. Ended as unsent.
 * @RDS_EXT_A_MR_STATS_EXPIRED: u64. Ended as expired.
 * @RDS_EXT_A_MR_STATS_REVOKED: u64. Ended as revoked.
 * @RDS_EXT_A_MR_STATS_DEVICE_REMOVED: u64. Ended as device-removed.
 * @RDS_EXT_A_MR_STATS_FAILED: u64. Could not be registered; not among mapped.
 * @RDS_EXT_A_MR_STATS_AGED: u64. Use-once MRs that mr-aged was sent for.
 * @RDS_EXT_A_MR_STATS_LIMITED_SOCKET: u64. Refused at a limit of the socket.
 * @RDS_EXT_A_MR_STATS_LIMITED_USER: u64. Refused at RLIMIT_MEMLOCK of the user.
 * @RDS_EXT_A_MR_STATS_LIMITED_POOL: u64. Refused at the limit of the pool.
 * @RDS_EXT_A_MR_STATS_RELEASE_REFUSED: u64. Extension headers that named an MR
 *   which was not advertised to their sender.
 * @RDS_EXT_A_MR_STATS_INVALIDATE_FOREIGN: u64. Messages that invalidated a key
 *   which was not advertised to their sender for that.
 * @RDS_EXT_A_MR_STATS_PAD: Padding in front of 64-bit numbers, without meaning.
 */
enum rds_ext_a_mr_stats {
	RDS_EXT_A_MR_STATS_MAPPED = 1,
	RDS_EXT_A_MR_STATS_LIVE,
	RDS_EXT_A_MR_STATS_ADVERTISED,
	RDS_EXT_A_MR_STATS_RELEASED,
	RDS_EXT_A_MR_STATS_REMOTELY_INVALIDATED,
	RDS_EXT_A_MR_STATS_FREED,
	RDS_EXT_A_MR_STATS_ORPHANED,
	RDS_EXT_A_MR_STATS_UNSENT,
	RDS_EXT_A_MR_STATS_EXPIRED,
	RDS_EXT_A_MR_STATS_REVOKED,
	RDS_EXT_A_MR_STATS_DEVICE_REMOVED,
	RDS_EXT_A_MR_STATS_FAILED,
	RDS_EXT_A_MR_STATS_AGED,
	RDS_EXT_A_MR_STATS_LIMITED_SOCKET,
	RDS_EXT_A_MR_STATS_LIMITED_USER,
	RDS_EXT_A_MR_STATS_LIMITED_POOL,
	RDS_EXT_A_MR_STATS_RELEASE_REFUSED,
	RDS_EXT_A_MR_STATS_INVALIDATE_FOREIGN,
	RDS_EXT_A_MR_STATS_PAD,

	/* private: */
	__RDS_EXT_A_MR_STATS_MAX,
	RDS_EXT_A_MR_STATS_MAX = (__RDS_EXT_A_MR_STATS_MAX - 1),
};

/**
 * enum rds_ext_cmd - Operations and events.
 * @RDS_EXT_CMD_CONN_GET: Get one connection by id, or by local-addr, peer-addr,
 *   transport and tos (tos 0 where absent); or dump those that match all
 *   attributes of the request. Connections of other network namespaces are
 *   never shown.
 * @RDS_EXT_CMD_EXTHDR_GET: Dump the known extension header types, and each
 *   unknown one that was met, with counters.
 * @RDS_EXT_CMD_SETTINGS_GET: Get all settings.
 * @RDS_EXT_CMD_SETTINGS_SET: Change the settings that are present, all or none;
 *   at least one must be. Those of the protocol act on connections that are
 *   established from then on, those of MRs on MRs that are mapped from then on.
 *   Needs CAP_NET_ADMIN in the initial user namespace.
 * @RDS_EXT_CMD_CONN_UP: A connection was established.
 * @RDS_EXT_CMD_CONN_DOWN: An established connection was lost or closed.
 * @RDS_EXT_CMD_VERSION_LEARNT: The peer's version header came in.
 * @RDS_EXT_CMD_MR_GET: Get one MR by id, or dump those that match all
 *   attributes of the request. MRs of other network namespaces are never shown.
 * @RDS_EXT_CMD_MR_REVOKE: Invalidate an MR and unpin its pages. Its owner still
 *   has to free it, which succeeds. Returns when the key is dead. Needs
 *   CAP_NET_ADMIN in the initial user namespace.
 * @RDS_EXT_CMD_MR_STATS_GET: Get the counters of the MR engine.
 * @RDS_EXT_CMD_POOL_GET: Dump the pools, one for each RDMA device that the
 *   engine has used.
 * @RDS_EXT_CMD_POOL_RESET_PEAKS: Set the peaks of all pools to what they hold
 *   now. Needs CAP_NET_ADMIN in the initial user namespace.
 * @RDS_EXT_CMD_MR_AGED: A use-once MR has reached the age of the setting.
 * @RDS_EXT_CMD_MR_REVOKED: An MR was revoked, by an operator or for its age.
 * @RDS_EXT_CMD_CONN_RESET: Drop the connection with the id, or those that match
 *   all other attributes of the request, of which there must be one; they are
 *   set up anew. Messages that wait are sent then, those with an RDMA operation
 *   under way end with an error. Where none matches, ENOENT. Needs
 *   CAP_NET_ADMIN in the user namespace of the network namespace.
 */
enum rds_ext_cmd {
	RDS_EXT_CMD_CONN_GET = 1,
	RDS_EXT_CMD_EXTHDR_GET,
	RDS_EXT_CMD_SETTINGS_GET,
	RDS_EXT_CMD_SETTINGS_SET,
	RDS_EXT_CMD_CONN_UP,
	RDS_EXT_CMD_CONN_DOWN,
	RDS_EXT_CMD_VERSION_LEARNT,
	RDS_EXT_CMD_MR_GET,
	RDS_EXT_CMD_MR_REVOKE,
	RDS_EXT_CMD_MR_STATS_GET,
	RDS_EXT_CMD_POOL_GET,
	RDS_EXT_CMD_POOL_RESET_PEAKS,
	RDS_EXT_CMD_MR_AGED,
	RDS_EXT_CMD_MR_REVOKED,
	RDS_EXT_CMD_CONN_RESET,

	/* private: */
	__RDS_EXT_CMD_MAX,
	RDS_EXT_CMD_MAX = (__RDS_EXT_CMD_MAX - 1),
};

#endif /* _RDS_EXT_UAPI_H */
