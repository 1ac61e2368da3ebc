// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/test/vm/agent"
)

func setUpNetwork(n agent.Network) error {
	for _, l := range n.Links {
		if err := setUpLink(l); err != nil {
			return fmt.Errorf("link %s: %w", l.Name, err)
		}
	}
	return nil
}

func setUpLink(l agent.Link) error {
	link, err := findLink(l)
	if err != nil {
		return err
	}
	if link.Attrs().Name != l.Name {
		if err := netlink.LinkSetName(link, l.Name); err != nil {
			return fmt.Errorf("rename %s: %w", link.Attrs().Name, err)
		}
	}
	if l.MTU != 0 {
		if err := netlink.LinkSetMTU(link, l.MTU); err != nil {
			return fmt.Errorf("MTU %d: %w", l.MTU, err)
		}
	}
	// Duplicate address detection would keep an IPv6 address unusable for a
	// second; no address is used twice here.
	dad := filepath.Join("/proc/sys/net/ipv6/conf", l.Name, "accept_dad")
	if err := os.WriteFile(dad, []byte("0"), 0); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, a := range l.Addrs {
		addr, err := netlink.ParseAddr(a)
		if err != nil {
			return fmt.Errorf("address %q: %w", a, err)
		}
		if err := netlink.AddrReplace(link, addr); err != nil {
			return fmt.Errorf("address %q: %w", a, err)
		}
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("up: %w", err)
	}
	if l.RXE == "" {
		return nil
	}
	if err := netlink.RdmaLinkAdd(l.RXE, "rxe", l.Name); err != nil {
		return fmt.Errorf("add RDMA link %s of type rxe: %w", l.RXE, err)
	}
	return nil
}

func findLink(l agent.Link) (netlink.Link, error) {
	if l.MAC != "" {
		mac, err := net.ParseMAC(l.MAC)
		if err != nil {
			return nil, err
		}
		links, err := netlink.LinkList()
		if err != nil {
			return nil, err
		}
		for _, link := range links {
			if link.Attrs().HardwareAddr.String() == mac.String() {
				return link, nil
			}
		}
		return nil, fmt.Errorf("no device with MAC address %v", mac)
	}
	link, err := netlink.LinkByName(l.Name)
	if err == nil {
		return link, nil
	}
	var missing netlink.LinkNotFoundError
	if !errors.As(err, &missing) || !l.Dummy {
		return nil, err
	}
	if err := netlink.LinkAdd(&netlink.Dummy{LinkAttrs: netlink.LinkAttrs{Name: l.Name}}); err != nil {
		return nil, fmt.Errorf("add dummy device: %w", err)
	}
	return netlink.LinkByName(l.Name)
}

func rdmaLinks() ([]agent.RDMALink, error) {
	links, err := netlink.RdmaLinkList()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPROTONOSUPPORT) {
		return nil, fmt.Errorf("the RDMA core does not answer; is ib_core loaded? %w", err)
	}
	if err != nil {
		return nil, err
	}
	out := []agent.RDMALink{}
	for _, l := range links {
		out = append(out, agent.RDMALink{
			Name: l.Attrs.Name, NodeGUID: l.Attrs.NodeGuid,
			Firmware: strings.TrimSpace(l.Attrs.FirmwareVersion),
		})
	}
	return out, nil
}

func deleteRDMALink(l agent.RDMALink) error {
	if err := netlink.RdmaLinkDel(l.Name); err != nil {
		return fmt.Errorf("delete RDMA link %s: %w", l.Name, err)
	}
	return nil
}
