/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RDS_FIX_POST_H
#define RDS_FIX_POST_H

void rds_fix_post_barrier(void);

#endif /* RDS_FIX_POST_H */
