// SPDX-License-Identifier: GPL-2.0
// kernels: 6.1 debug
//
// The pages of a memory region are pinned by pin_user_pages(), but given back by
// put_page(). A pin counts for many references, so every page that was ever
// registered stays allocated for good, and a host runs out of memory.
//
// What changes for users: the memory comes back.
//
// Regions are torn down in the flush of their pool, under a mutex, and where one
// is used again: both may sleep.
//
// plants: 1 in ib_rdma.c: unpin_user_pages_dirty_lock(&page, 1, true);
// plants: -1 in ib_rdma.c: put_page(page);

@unpin_regions@
identifier page;
@@
 __rds_ib_teardown_mr(...)
 {
 <+...
-WARN_ON(!page->mapping && irqs_disabled());
-set_page_dirty(page);
-put_page(page);
+unpin_user_pages_dirty_lock(&page, 1, true);
 ...+>
 }
