/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Use-once MRs that nobody uses: looked for once a second while there are MRs.
 */
#ifndef RDS_EXT_MRAGE_H
#define RDS_EXT_MRAGE_H

void rext_mrage_watch(void);
void rext_mrage_exit(void);

#endif /* RDS_EXT_MRAGE_H */
