/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * Made from rds_ext.yaml by gonl/internal/specgen. Change the YAML file and run
 * "go generate ./gonl" instead of editing this one.
 *
 * Generic netlink family "rds_ext". Control plane of rds_ext.ko: the
 * connections of RDS with the protocol version and features that each side
 * announced, the counters of the extension headers, and the settings of the
 * module.
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
 *   dump request:
 *     RDS_EXT_A_CONN_TRANSPORT: u32, one of RDS_EXT_TRANSPORT_*
 *     RDS_EXT_A_CONN_LOCAL_ADDR: binary, exactly 16 bytes
 *     RDS_EXT_A_CONN_PEER_ADDR: binary, exactly 16 bytes
 *     RDS_EXT_A_CONN_STATE: u32, one of RDS_EXT_CONN_STATE_*
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
 *
 * RDS_EXT_CMD_SETTINGS_SET
 *   Change the settings that are present, all or none; at least one must be.
 *   They act on connections that are established from then on. Needs
 *   CAP_NET_ADMIN in the initial user namespace.
 *   Refused with EPERM without CAP_NET_ADMIN.
 *   do request:
 *     RDS_EXT_A_SETTINGS_VERSION_HEADER: u8, 0 to 1
 *     RDS_EXT_A_SETTINGS_FEATURE_MASK: u32, bits of RDS_EXT_FEATURE_*
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
 */

#ifndef _RDS_EXT_UAPI_H
#define _RDS_EXT_UAPI_H

#define RDS_EXT_FAMILY_NAME    "rds_ext"
#define RDS_EXT_FAMILY_VERSION 1

/* Multicast group of the events. */
#define RDS_EXT_MCGRP_CONN "conn"

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
 * enum rds_ext_feature - Feature bits of the version extension header.
 * @RDS_EXT_FEATURE_EXT_TYPES: The sender parses the extension header types of
 *   this project (9 and up).
 */
enum rds_ext_feature {
	RDS_EXT_FEATURE_EXT_TYPES = 1U << 0,

	/* private: */
	RDS_EXT_FEATURE_MASK = RDS_EXT_FEATURE_EXT_TYPES,
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
 */
enum rds_ext_a_settings {
	RDS_EXT_A_SETTINGS_VERSION_HEADER = 1,
	RDS_EXT_A_SETTINGS_FEATURE_MASK,
	RDS_EXT_A_SETTINGS_SUPPORTED_FEATURES,
	RDS_EXT_A_SETTINGS_PROTOCOL_VERSION,
	RDS_EXT_A_SETTINGS_MODULE_VERSION,

	/* private: */
	__RDS_EXT_A_SETTINGS_MAX,
	RDS_EXT_A_SETTINGS_MAX = (__RDS_EXT_A_SETTINGS_MAX - 1),
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
 *   at least one must be. They act on connections that are established from
 *   then on. Needs CAP_NET_ADMIN in the initial user namespace.
 * @RDS_EXT_CMD_CONN_UP: A connection was established.
 * @RDS_EXT_CMD_CONN_DOWN: An established connection was lost or closed.
 * @RDS_EXT_CMD_VERSION_LEARNT: The peer's version header came in.
 */
enum rds_ext_cmd {
	RDS_EXT_CMD_CONN_GET = 1,
	RDS_EXT_CMD_EXTHDR_GET,
	RDS_EXT_CMD_SETTINGS_GET,
	RDS_EXT_CMD_SETTINGS_SET,
	RDS_EXT_CMD_CONN_UP,
	RDS_EXT_CMD_CONN_DOWN,
	RDS_EXT_CMD_VERSION_LEARNT,

	/* private: */
	__RDS_EXT_CMD_MAX,
	RDS_EXT_CMD_MAX = (__RDS_EXT_CMD_MAX - 1),
};

#endif /* _RDS_EXT_UAPI_H */
