// SPDX-License-Identifier: MIT

package vm

import (
	"fmt"
	"net"
	"regexp"
	"strings"

	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// DefaultMemory is the memory of a VM in MiB.
const DefaultMemory = 512

// DefaultMTU is the MTU of network devices. RDMA packets have 4096 bytes of
// payload then; with 1500 they would have 1024.
const DefaultMTU = 4200

// maxMTU is what a device may be set to at most.
const maxMTU = 9000

// A Spec describes a VM to boot. All but the name has a default.
type Spec struct {
	// Name is unique among the nodes: lower-case letters and digits, a letter
	// first.
	Name string
	// NICs are its network devices, eth0 and so on. If empty, it has one.
	NICs []NIC
	// Memory in MiB, DefaultMemory if 0.
	Memory int
	// CPUs, 1 if 0.
	CPUs int
	// Append is added to the kernel's command line.
	Append []string
	// QEMU is added to QEMU's command line.
	QEMU []string
}

// A NIC is a network device on the switch. The link of the first is named as
// its node, those of others NODE.1 and so on.
type NIC struct {
	// Addrs are its addresses in CIDR notation. If nil, it gets 10.77.I.N/24 on the
	// I-th device of the N-th node to be booted.
	Addrs []string
	MTU   int // DefaultMTU if 0
	// NoRXE leaves out the soft RoCE device, which is named rxe0 on eth0.
	NoRXE bool
}

var nodeName = regexp.MustCompile(`^[a-z][a-z0-9]{0,30}$`)

// complete fills in the defaults for the n-th node, counted from 1.
func (s *Spec) complete(n int) error {
	if !nodeName.MatchString(s.Name) {
		return fmt.Errorf("%q is not a node's name: it must match %v", s.Name, nodeName)
	}
	if s.Memory == 0 {
		s.Memory = DefaultMemory
	}
	if s.CPUs == 0 {
		s.CPUs = 1
	}
	if len(s.NICs) == 0 {
		s.NICs = []NIC{{}}
	} else {
		s.NICs = append([]NIC(nil), s.NICs...) // the caller's stay as they are
	}
	for i := range s.NICs {
		nic := &s.NICs[i]
		if nic.Addrs == nil {
			nic.Addrs = []string{fmt.Sprintf("10.77.%d.%d/24", i, n)}
		}
		if nic.MTU == 0 {
			nic.MTU = DefaultMTU
		}
		if nic.MTU < 68 || nic.MTU > maxMTU {
			return fmt.Errorf("node %s: MTU %d; it must be between 68 and %d", s.Name, nic.MTU, maxMTU)
		}
		for _, a := range nic.Addrs {
			if _, _, err := net.ParseCIDR(a); err != nil {
				return fmt.Errorf("node %s: %w", s.Name, err)
			}
		}
	}
	return nil
}

// macOf is the address of the i-th device of the n-th node.
func macOf(n, i int) net.HardwareAddr {
	return net.HardwareAddr{0x02, 'r', 'd', 's', byte(n), byte(i)}
}

func linkName(node string, i int) string {
	if i == 0 {
		return node
	}
	return fmt.Sprintf("%s.%d", node, i)
}

// network is the set-up of the n-th node.
func (s *Spec) network(n int) agent.Network {
	var net agent.Network
	for i, nic := range s.NICs {
		l := agent.Link{
			MAC: macOf(n, i).String(), Name: fmt.Sprintf("eth%d", i),
			MTU: nic.MTU, Addrs: nic.Addrs,
		}
		if !nic.NoRXE {
			l.RXE = fmt.Sprintf("rxe%d", i)
		}
		net.Links = append(net.Links, l)
	}
	return net
}

// firstIP is the first address without its prefix length.
func (s *Spec) firstIP() string {
	for _, nic := range s.NICs {
		for _, a := range nic.Addrs {
			ip, _, _ := strings.Cut(a, "/")
			return ip
		}
	}
	return ""
}
