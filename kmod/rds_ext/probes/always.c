// SPDX-License-Identifier: GPL-2.0
// Must compile: guards the other probes against broken headers or compilers,
// which would turn every answer into "no".
#include <linux/module.h>
#include "rds.h"

int probe(struct rds_connection *conn);

int probe(struct rds_connection *conn)
{
	return conn->c_npaths;
}
