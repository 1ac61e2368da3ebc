// SPDX-License-Identifier: GPL-2.0
// Kernels differ in how many extension headers a message may carry (6.1 and
// 6.12: one), and all take an unknown type for one without payload. With
// rds_ext.ko both functions hand over to its codec; without, they go on as ever.
// A negative value says that nobody took the call.
//
// plants: 1 in message.c: rds_hooks_ext_add(
// plants: 1 in message.c: rds_hooks_ext_next(

@rds_hooks_ext_add@
identifier hdr, type, data;
statement S1, S2;
@@
 rds_message_add_extension(struct rds_header *hdr, unsigned int type,
                           const void *data, ...)
 {
 ... when != S1
+{
+	int taken = rds_hooks_ext_add(hdr, type, data);
+
+	if (taken >= 0)
+		return taken;
+}
 S2
 ... when any
 }

@rds_hooks_ext_next@
identifier hdr, pos, buf, buflen;
statement S1, S2;
@@
 rds_message_next_extension(struct rds_header *hdr, unsigned int *pos,
                            void *buf, unsigned int *buflen)
 {
 ... when != S1
+{
+	int taken = rds_hooks_ext_next(hdr, pos, buf, buflen);
+
+	if (taken >= 0)
+		return taken;
+}
 S2
 ... when any
 }
