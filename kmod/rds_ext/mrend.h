/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The end of MRs: invalidate the key, then unmap and unpin the pages.
 */
#ifndef RDS_EXT_MREND_H
#define RDS_EXT_MREND_H

struct work_struct;

void rext_mrend_work(struct work_struct *work);

#endif /* RDS_EXT_MREND_H */
