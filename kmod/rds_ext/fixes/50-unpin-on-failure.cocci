// SPDX-License-Identifier: GPL-2.0
// kernels: 6.1 6.12 7.3 debug
//
// Where there is no memory for the list of its pages, a region is given up with the
// pages still pinned, and they stay so for good.
//
// What changes for users: the memory comes back.
//
// plants: 1 in rdma.c: unpin_user_pages(pages, nents);

@unpin_on_failure@
identifier sg, pages, nents;
@@
 __rds_rdma_map(...)
 {
 ... when any
 struct page **pages = NULL;
 <+...
 if (!sg) {
+	unpin_user_pages(pages, nents);
 	ret = -ENOMEM;
 	goto out;
 }
 WARN_ON(!nents);
 ...+>
 }
