// SPDX-License-Identifier: GPL-2.0
// Where a header leaves and where one comes in.
//
// plants: 1 in ib_send.c: rds_hooks_tx_header(conn
// plants: 1 in ib_recv.c: rds_hooks_tx_ack(
// plants: 1 in ib_recv.c: rds_hooks_rx_header(conn, ihdr);
// plants: 1 in ib_recv.c: rds_hooks_rx_header(conn, hdr);
// plants: 1 in recv.c: rds_hooks_rx_incoming(conn

// Into the copy that goes on the wire, not into the message: a message that is
// sent again on the next incarnation, perhaps after rds_ext.ko has gone, must
// not repeat what was announced on this one. Only the first fragment's header
// is read by the peer.
@rds_hooks_tx_header@
identifier conn, rm, hdr_off, ic, pos;
@@
 rds_ib_xmit(struct rds_connection *conn, struct rds_message *rm,
             unsigned int hdr_off, ...)
 {
 <+...
 memcpy(ic->i_send_hdrs[pos], &rm->m_inc.i_hdr, sizeof(struct rds_header));
+if (!hdr_off && !prev)
+	rds_hooks_tx_header(conn, ic->i_send_hdrs[pos]);
 ...+>
 }

// An acknowledgment without a message can be the first thing that the accepting
// side sends. It is built in a place of its own, again and again; its checksum
// is made behind this call.
@rds_hooks_tx_ack@
identifier ic, hdr;
@@
 rds_ib_send_ack(struct rds_ib_connection *ic, ...)
 {
 <+...
+rds_hooks_tx_ack(ic->conn, hdr);
 rds_message_make_checksum(hdr);
 ...+>
 }

// Nothing of the core reads the extension headers of an acknowledgment.
@rds_hooks_rx_ack@
identifier conn, ihdr;
@@
 rds_ib_process_recv(struct rds_connection *conn, ...)
 {
 <+...
 if (ihdr->h_sport == 0 && ihdr->h_dport == 0 && ...) {
+rds_hooks_rx_header(conn, ihdr);
 ...
 }
 ...+>
 }

// The first fragment of each message, congestion maps included.
@rds_hooks_rx_header@
identifier conn, hdr, ihdr;
@@
 rds_ib_process_recv(struct rds_connection *conn, ...)
 {
 <+...
 memcpy(hdr, ihdr, sizeof(*hdr));
+rds_hooks_rx_header(conn, hdr);
 ...+>
 }

// Messages of the other transports meet in the core. The TCP transport is the
// distribution's own binary and has no call of ours.
@rds_hooks_rx_incoming@
identifier conn, inc;
@@
 rds_recv_incoming(struct rds_connection *conn, ..., struct rds_incoming *inc, ...)
 {
 ... when any
 inc->i_rx_jiffies = jiffies;
+rds_hooks_rx_incoming(conn, &inc->i_hdr);
 ... when any
 }
