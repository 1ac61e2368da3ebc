// SPDX-License-Identifier: GPL-2.0
/*
 * For tests: breaks the queue pair with which rds_ext.ko registers MRs on an
 * RDMA device, as a fault of the device would, by putting it into the error
 * state behind the back of its owner:
 *
 *	echo rxe0 >/sys/module/breakqp/parameters/device
 *
 * The write returns when the queue pair is in that state. It fails with ENODEV
 * where there is no such device, and with ENOENT where rds_ext.ko has no queue
 * pair there, or none that works: one that is broken already is not broken once
 * more, so that each write that succeeds has to bring about a recovery.
 */
#include <linux/bits.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>
#include <rdma/restrack.h>

/* Whose queue pair it is, as the RDMA core notes it down. */
#define OWNER		"rds_ext"

/* Soft RoCE numbers its queue pairs from 16 to this. */
#define LAST_QPN	BIT(20)

/* One write at a time; the lock for parameters of modules sees to it. */
static char wanted[IB_DEVICE_NAME_MAX];
static int result;

static bool is_the_one(struct ib_qp *qp)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	return qp->qp_type == IB_QPT_RC && rdma_is_kernel_res(&qp->res) &&
	       qp->res.kern_name && !strcmp(qp->res.kern_name, OWNER) &&
	       !ib_query_qp(qp, &attr, IB_QP_STATE, &init) &&
	       attr.qp_state == IB_QPS_RTS;
}

/* The reference that is held meanwhile keeps the queue pair from going. */
static int break_if_owned(struct ib_device *device, u32 qpn)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct rdma_restrack_entry *res;
	struct ib_qp *qp;
	int ret = -ENOENT;

	res = rdma_restrack_get_byid(device, RDMA_RESTRACK_QP, qpn);
	if (IS_ERR(res))
		return -ENOENT;
	qp = container_of(res, struct ib_qp, res);
	if (is_the_one(qp))
		ret = ib_modify_qp(qp, &attr, IB_QP_STATE);
	rdma_restrack_put(res);
	return ret;
}

/*
 * Called for each device when the client below is registered: that is the way
 * to a device by its name which all kernels have. Takes an interest in none.
 */
static int look_at(struct ib_device *device)
{
	u32 qpn;

	if (strcmp(dev_name(&device->dev), wanted))
		return -EOPNOTSUPP;
	result = -ENOENT;
	for (qpn = 1; qpn <= LAST_QPN && result == -ENOENT; qpn++) {
		result = break_if_owned(device, qpn);
		cond_resched();
	}
	return -EOPNOTSUPP;
}

static struct ib_client client = { .name = KBUILD_MODNAME, .add = look_at };

static int set_device(const char *val, const struct kernel_param *kp)
{
	int ret;

	if (strscpy(wanted, val, sizeof(wanted)) < 0)
		return -ENODEV;
	strim(wanted);
	result = -ENODEV;
	ret = ib_register_client(&client);
	if (ret)
		return ret;
	ib_unregister_client(&client);
	return result;
}

static const struct kernel_param_ops device_ops = { .set = set_device };

module_param_cb(device, &device_ops, NULL, 0200);
MODULE_PARM_DESC(device, "RDMA device whose queue pair of rds_ext.ko to break");
MODULE_DESCRIPTION("Breaks the queue pair of rds_ext.ko, for tests");
MODULE_AUTHOR("The rds_ext developers");
MODULE_LICENSE("GPL");
