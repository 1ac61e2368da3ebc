// SPDX-License-Identifier: MIT

package agent

import (
	"encoding/json"
	"io/fs"
	"time"
)

// Version is the version of the protocol. Host and guest are built from one
// tree; a difference means a stale guest binary.
const Version = 1

// PortName is the name of the virtio-serial port, which the guest looks up in
// /sys/class/virtio-ports.
const PortName = "rds.agent"

// TokenParam is the parameter of the kernel command line with the token.
const TokenParam = "rds.token"

// BootModules is the file in the initramfs that lists the modules without
// which the port does not exist, one path a line in the order of loading.
const BootModules = "/etc/boot-modules"

// Hello is the first thing that a guest says.
type Hello struct {
	Version int
	Token   string
	Kernel  string // release, as uname -r prints it
}

// Bye is the last thing that a guest says, before it switches itself off.
type Bye struct {
	Token string
	// Taint is /proc/sys/kernel/tainted. See [TaintBad].
	Taint uint64
}

// TaintBad are the taint flags that the kernel sets when it found itself at
// fault: bad page, die, warning, soft lock-up. Modules from outside the tree
// or without signature set others.
const TaintBad = 1<<5 | 1<<7 | 1<<9 | 1<<14

// Op names an operation.
type Op string

// The operations, with the types of their arguments and results.
const (
	OpExec      Op = "exec"       // Exec, ExecResult
	OpLoad      Op = "load"       // Load, none
	OpUnload    Op = "unload"     // Unload, none
	OpModules   Op = "modules"    // none, []LoadedModule
	OpReadFile  Op = "read-file"  // File, none; the content as KindStdout
	OpWriteFile Op = "write-file" // File, none; the content as KindInput
	OpNetwork   Op = "network"    // Network, none
	OpRDMALinks Op = "rdma-links" // none, []RDMALink
	OpDelRDMA   Op = "del-rdma"   // RDMALink, none
	OpPing      Op = "ping"       // Ping, PingResult
	OpHeartbeat Op = "heartbeat"  // none, none
	OpPowerOff  Op = "power-off"  // none, Bye
)

// A Call asks for an operation.
type Call struct {
	Op   Op
	Args json.RawMessage `json:",omitempty"`
}

// A Reply ends a call. With a non-empty Error the operation failed.
type Reply struct {
	Error string `json:",omitempty"`
	// Errno is the system call's error number if one is behind Error.
	Errno  int             `json:",omitempty"`
	Result json.RawMessage `json:",omitempty"`
}

// Exec describes a command.
type Exec struct {
	Argv []string // Argv[0] is looked up in /bin if it has no slash
	Env  []string // added to PATH and HOME, "NAME=value"
	Dir  string   // "/" if empty
	// UID and GID of the process; other than 0 it has no capabilities.
	UID, GID uint32
	// Timeout after which the guest kills the command and all that it has
	// started; 0 means none.
	Timeout time.Duration
	// Stdin is whether the host sends input. Without it standard input is
	// /dev/null.
	Stdin bool
	// NewUser runs the command as root of a user namespace of its own, in which
	// 0 is UID outside.
	NewUser bool
	// NewNet runs the command in a network namespace of its own.
	NewNet bool
}

// ExecResult is how a command ended.
type ExecResult struct {
	// ExitCode is the exit status, or -1 if a signal ended the command.
	ExitCode int
	// Signal is the number of the signal that ended it, or 0.
	Signal int `json:",omitempty"`
	// TimedOut is whether the guest killed it for [Exec.Timeout].
	TimedOut bool `json:",omitempty"`
}

// Load is a module to load with finit_module.
type Load struct {
	Path   string
	Params string `json:",omitempty"`
}

// Unload is a module to remove.
type Unload struct {
	Name string
}

// LoadedModule is a line of /proc/modules.
type LoadedModule struct {
	Name   string
	Refs   int
	UsedBy []string `json:",omitempty"`
}

// File is a file to read or write.
type File struct {
	Path string
	Perm fs.FileMode `json:",omitempty"`
	// Direct writes to the file as it is and neither creates nor truncates:
	// for files of /proc and /sys.
	Direct bool `json:",omitempty"`
}

// Network is a network set-up. Links are set up in order.
type Network struct {
	Links []Link
}

// Link is a network device to bring up.
type Link struct {
	// MAC finds an existing device, which then gets Name. Without MAC, Name
	// must exist already or Dummy be set.
	MAC   string `json:",omitempty"`
	Name  string
	Dummy bool     `json:",omitempty"` // create a dummy device
	MTU   int      `json:",omitempty"` // 0 leaves it alone
	Addrs []string `json:",omitempty"` // in CIDR notation
	// RXE, if not empty, is the name of a soft RoCE device to add on top.
	RXE string `json:",omitempty"`
}

// RDMALink is an RDMA device.
type RDMALink struct {
	Name string
	// NodeGUID as the kernel prints it, in eight colon-separated bytes.
	NodeGUID string `json:",omitempty"`
	Firmware string `json:",omitempty"`
}

// Ping is a number of ICMP echo requests, each sent when the last was answered.
type Ping struct {
	To      string // IPv4 address
	Count   int
	Size    int           // bytes of payload
	Timeout time.Duration // for each
}

// PingResult has one time for each answer.
type PingResult struct {
	Sent int
	RTT  []time.Duration
}
