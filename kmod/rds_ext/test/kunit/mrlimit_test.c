// SPDX-License-Identifier: GPL-2.0
/*
 * The limits of sockets and users. A socket is a pointer to compare here.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>

#include "mrlimit.h"
#include "mrstats.h"
#include "settings.h"
#include "suites.h"

#define CHARGES		16

/**
 * struct limits - what a test has changed
 * @settings: as they were before
 * @charges: what may be charged, and is not when the test is over
 * @sockets: two of them, never looked into
 * @cred: credentials without the capability, or NULL
 * @old_cred: those of before
 * @task: whose they were; each test has one of its own, and a limit with it
 */
struct limits {
	struct rext_mr_settings settings;
	struct rext_charge charges[CHARGES];
	char sockets[2];
	struct cred *cred;
	const struct cred *old_cred;
	struct task_struct *task;
};

static const struct rds_sock *socket(struct limits *l, unsigned int which)
{
	return (const struct rds_sock *)&l->sockets[which];
}

static int charge(struct kunit *test, unsigned int i, unsigned int which,
		  unsigned int pages)
{
	struct limits *l = test->priv;

	return rext_limit_charge(&l->charges[i], socket(l, which), pages);
}

static void uncharge(struct kunit *test, unsigned int i)
{
	struct limits *l = test->priv;

	rext_limit_uncharge(&l->charges[i]);
}

static void set_limits(struct kunit *test, u32 mrs, u64 bytes)
{
	struct limits *l = test->priv;
	struct rext_mr_settings set = l->settings;

	set.sock_max = mrs;
	set.sock_bytes = bytes;
	rext_settings_set_mr(&set);
}

static u64 refused(enum rext_mrstat which)
{
	return rext_mrstats_read(which);
}

/* The last MR that a socket may have is granted, one more is refused. */
static void socket_mrs(struct kunit *test)
{
	u64 before = refused(REXT_MRSTAT_LIMITED_SOCKET);

	set_limits(test, 3, 0);
	KUNIT_EXPECT_EQ(test, charge(test, 0, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, charge(test, 1, 0, 100), 0);
	KUNIT_EXPECT_EQ(test, charge(test, 2, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, charge(test, 3, 0, 1), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, refused(REXT_MRSTAT_LIMITED_SOCKET), before + 1);
	/* Another socket has a limit of its own. */
	KUNIT_EXPECT_EQ(test, charge(test, 4, 1, 1), 0);
	uncharge(test, 1);
	KUNIT_EXPECT_EQ(test, charge(test, 3, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, charge(test, 5, 0, 1), -ENOBUFS);
}

/* So is the last page. */
static void socket_bytes(struct kunit *test)
{
	set_limits(test, 0, 10 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, charge(test, 0, 0, 11), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, charge(test, 0, 0, 4), 0);
	KUNIT_EXPECT_EQ(test, charge(test, 1, 0, 7), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, charge(test, 1, 0, 6), 0);
	KUNIT_EXPECT_EQ(test, charge(test, 2, 0, 1), -ENOBUFS);
	uncharge(test, 0);
	KUNIT_EXPECT_EQ(test, charge(test, 2, 0, 4), 0);
	KUNIT_EXPECT_EQ(test, charge(test, 3, 0, 1), -ENOBUFS);

	set_limits(test, 0, 10 * PAGE_SIZE + 1);
	KUNIT_EXPECT_EQ(test, charge(test, 3, 0, 1), -ENOBUFS);
	set_limits(test, 0, 11 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, charge(test, 3, 0, 1), 0);
}

/* A limit that is lowered below what there is refuses, and takes nothing. */
static void lowered(struct kunit *test)
{
	set_limits(test, 0, 0);
	KUNIT_EXPECT_EQ(test, charge(test, 0, 0, 8), 0);
	KUNIT_EXPECT_EQ(test, charge(test, 1, 0, 8), 0);
	set_limits(test, 1, 0);
	KUNIT_EXPECT_EQ(test, charge(test, 2, 0, 1), -ENOBUFS);
	uncharge(test, 0);
	KUNIT_EXPECT_EQ(test, charge(test, 2, 0, 1), -ENOBUFS);
	uncharge(test, 1);
	KUNIT_EXPECT_EQ(test, charge(test, 2, 0, 1), 0);
}

/* What is uncharged twice counts once; the other MRs still count. */
static void twice(struct kunit *test)
{
	set_limits(test, 2, 0);
	KUNIT_EXPECT_EQ(test, charge(test, 0, 0, 5), 0);
	KUNIT_EXPECT_EQ(test, charge(test, 1, 0, 5), 0);
	uncharge(test, 0);
	uncharge(test, 0);
	KUNIT_EXPECT_EQ(test, charge(test, 2, 0, 5), 0);
	KUNIT_EXPECT_EQ(test, charge(test, 3, 0, 5), -ENOBUFS);
	/* The count of a socket goes with its last MR, and comes again. */
	uncharge(test, 1);
	uncharge(test, 2);
	uncharge(test, 2);
	KUNIT_EXPECT_EQ(test, charge(test, 0, 0, 5), 0);
	KUNIT_EXPECT_EQ(test, charge(test, 1, 0, 5), 0);
	KUNIT_EXPECT_EQ(test, charge(test, 2, 0, 5), -ENOBUFS);
}

static long locked(void)
{
	return atomic_long_read(&current_user()->locked_vm);
}

/* Lets this task lock @pages more than are locked. */
static void may_lock(struct kunit *test, long pages)
{
	current->signal->rlim[RLIMIT_MEMLOCK].rlim_cur =
		(locked() + pages) << PAGE_SHIFT;
}

static void drop_capability(struct kunit *test)
{
	struct limits *l = test->priv;

	l->cred = prepare_creds();
	KUNIT_ASSERT_NOT_NULL(test, l->cred);
	cap_lower(l->cred->cap_effective, CAP_IPC_LOCK);
	l->old_cred = override_creds(l->cred);
	l->task = current;
}

/* A user without CAP_IPC_LOCK may lock what RLIMIT_MEMLOCK says, and no more. */
static void user_pages(struct kunit *test)
{
	u64 before = refused(REXT_MRSTAT_LIMITED_USER);
	long pages = locked();

	drop_capability(test);
	may_lock(test, 10);
	KUNIT_EXPECT_EQ(test, charge(test, 0, 0, 10), 0);
	KUNIT_EXPECT_EQ(test, locked(), pages + 10);
	/* All sockets of the user count together. */
	KUNIT_EXPECT_EQ(test, charge(test, 1, 1, 1), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, locked(), pages + 10);
	KUNIT_EXPECT_EQ(test, refused(REXT_MRSTAT_LIMITED_USER), before + 1);
	uncharge(test, 0);
	uncharge(test, 0);
	KUNIT_EXPECT_EQ(test, locked(), pages);
	KUNIT_EXPECT_EQ(test, charge(test, 1, 1, 10), 0);
	uncharge(test, 1);
	KUNIT_EXPECT_EQ(test, locked(), pages);
}

/* What is refused for the user does not count for the socket. */
static void user_not_socket(struct kunit *test)
{
	set_limits(test, 2, 10 * PAGE_SIZE);
	drop_capability(test);
	may_lock(test, 5);
	KUNIT_EXPECT_EQ(test, charge(test, 0, 0, 5), 0);
	KUNIT_EXPECT_EQ(test, charge(test, 1, 0, 5), -ENOBUFS);
	may_lock(test, 5);
	KUNIT_EXPECT_EQ(test, charge(test, 1, 0, 5), 0);
}

/* With the capability, nothing counts for the user. */
static void user_may(struct kunit *test)
{
	long pages = locked();

	may_lock(test, 0);
	KUNIT_EXPECT_EQ(test, charge(test, 0, 0, 100), 0);
	KUNIT_EXPECT_EQ(test, locked(), pages);
}

static int begin(struct kunit *test)
{
	struct limits *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);

	if (!l)
		return -ENOMEM;
	rext_settings_mr(&l->settings);
	test->priv = l;
	return 0;
}

static void end(struct kunit *test)
{
	struct limits *l = test->priv;
	unsigned int i;

	if (!l)
		return;
	for (i = 0; i < CHARGES; i++)
		rext_limit_uncharge(&l->charges[i]);
	rext_settings_set_mr(&l->settings);
	/* Another task cleans up where a test has been given up. */
	if (l->task == current) {
		revert_creds(l->old_cred);
		put_cred(l->cred);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(socket_mrs),
	KUNIT_CASE(socket_bytes),
	KUNIT_CASE(lowered),
	KUNIT_CASE(twice),
	KUNIT_CASE(user_pages),
	KUNIT_CASE(user_not_socket),
	KUNIT_CASE(user_may),
	{ }
};

struct kunit_suite rext_mrlimit_suite = {
	.name = "rds_ext_mrlimit",
	.init = begin,
	.exit = end,
	.test_cases = cases,
};
