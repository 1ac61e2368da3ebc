// SPDX-License-Identifier: GPL-2.0
// Must not compile: guards the other probes against errors that go unnoticed,
// which would turn every answer into "yes".
#include <linux/module.h>
#include "rds.h"

int probe(struct rds_connection *conn);

int probe(struct rds_connection *conn)
{
	return conn->no_kernel_has_a_field_of_this_name;
}
