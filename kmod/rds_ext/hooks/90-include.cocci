// SPDX-License-Identifier: GPL-2.0
// Last, since it asks which files the other rules have planted calls in.
//
// plants: 1 in connection.c: #include "rds_hooks.h"
// plants: 1 in threads.c: #include "rds_hooks.h"
// plants: 1 in message.c: #include "rds_hooks.h"
// plants: 1 in recv.c: #include "rds_hooks.h"
// plants: 1 in ib_send.c: #include "rds_hooks.h"
// plants: 1 in ib_recv.c: #include "rds_hooks.h"
// plants: 1 in ib_rdma.c: #include "rds_hooks.h"
// plants: 1 in ib.c: #include "rds_hooks.h"
// plants: 1 in rdma.c: #include "rds_hooks.h"
// plants: 1 in send.c: #include "rds_hooks.h"
// plants: 1 in rdma_transport.c: #include "rds_hooks.h"

@calls_a_hook@
identifier hook =~ "^rds_hooks_";
@@
 hook(...)

@rds_hooks_include depends on calls_a_hook@
@@
 #include "rds.h"
+#include "rds_hooks.h"

// The one file that has rds.h by way of another.
@rds_hooks_include_ib depends on calls_a_hook && !rds_hooks_include@
@@
 #include "ib.h"
+#include "rds_hooks.h"
