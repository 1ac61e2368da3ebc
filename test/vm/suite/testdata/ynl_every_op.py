# SPDX-License-Identifier: MIT
"""Does every operation of the family with the kernel's own client.

Usage: ynl_every_op.py YNL_DIRECTORY SPEC.yaml CONN_ID MR_ID

Prints a JSON object: "ops" has what the spec calls operations, "replies" what came
of each that was done, "events" those that came meanwhile, "errors" the text of what
was refused.
"""

import json
import sys

sys.path.insert(0, sys.argv[1])
from lib import NlError, YnlFamily  # noqa: E402


def plain(value):
    if isinstance(value, bytes):
        return value.hex()
    return sorted(value) if isinstance(value, set) else str(value)


def main():
    spec, conn, mr = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    ynl = YnlFamily(spec, schema="")
    # A client can subscribe to one group.
    listeners = [YnlFamily(spec, schema="") for _ in ("conn", "mr")]
    for listener, group in zip(listeners, ("conn", "mr")):
        listener.ntf_subscribe(group)
    replies, errors = {}, {}

    def do(name, **values):
        replies["do " + name] = ynl.do(name, values)

    def dump(name, **values):
        replies["dump " + name] = ynl.dump(name, values)

    dump("conn-get")
    do("conn-get", id=conn)
    dump("exthdr-get")
    do("settings-get")
    do("settings-set", **{"mr-max-age-ms": 123456})
    do("mr-stats-get")
    dump("pool-get")
    do("pool-reset-peaks")
    dump("mr-get")
    do("mr-get", id=mr)
    do("mr-revoke", id=mr)
    do("conn-reset", id=conn)
    for name, values in {"conn-get": {"id": 4294967295}, "mr-revoke": {"id": 4294967295}}.items():
        try:
            ynl.do(name, values)
        except NlError as error:
            errors[name] = str(error)
    events = []
    for listener in listeners:
        listener.check_ntf()
        events += listener.async_msg_queue
    ops = {name: sorted(op.modes) for name, op in ynl.ops.items()}
    json.dump(
        {"ops": ops, "replies": replies, "events": events, "errors": errors},
        sys.stdout, default=plain,
    )


main()
