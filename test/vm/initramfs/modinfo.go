// SPDX-License-Identifier: MIT

package initramfs

import (
	"bytes"
	"debug/elf"
	"fmt"
	"strings"
)

// ModInfo is what a module says of itself.
type ModInfo struct {
	Name     string
	VerMagic string // begins with the kernel release that it was built for
	Depends  []string
}

// ReadModInfo reads the .modinfo section of an uncompressed module.
func ReadModInfo(module []byte) (ModInfo, error) {
	var mi ModInfo
	f, err := elf.NewFile(bytes.NewReader(module))
	if err != nil {
		return mi, fmt.Errorf("not a kernel module: %w", err)
	}
	sec := f.Section(".modinfo")
	if sec == nil {
		return mi, fmt.Errorf("not a kernel module: no .modinfo section")
	}
	data, err := sec.Data()
	if err != nil {
		return mi, fmt.Errorf(".modinfo: %w", err)
	}
	for entry := range bytes.SplitSeq(data, []byte{0}) {
		key, value, _ := strings.Cut(string(entry), "=")
		switch key {
		case "name":
			mi.Name = value
		case "vermagic":
			mi.VerMagic = value
		case "depends":
			for d := range strings.SplitSeq(value, ",") {
				if d != "" {
					mi.Depends = append(mi.Depends, strings.ReplaceAll(d, "-", "_"))
				}
			}
		}
	}
	return mi, nil
}
