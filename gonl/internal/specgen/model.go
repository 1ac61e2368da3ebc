// SPDX-License-Identifier: MIT

package main

// The types below follow the kernel's genetlink schema. Unknown keys are
// errors, so a key that specgen does not render cannot be ignored in silence.

type yamlSpec struct {
	Name          string           `yaml:"name"`
	Protocol      string           `yaml:"protocol"`
	Doc           string           `yaml:"doc"`
	UAPIHeader    string           `yaml:"uapi-header"`
	Definitions   []yamlDefinition `yaml:"definitions"`
	AttributeSets []yamlSet        `yaml:"attribute-sets"`
	Operations    struct {
		EnumModel  string   `yaml:"enum-model"`
		EnumName   string   `yaml:"enum-name"`
		NamePrefix string   `yaml:"name-prefix"`
		List       []yamlOp `yaml:"list"`
	} `yaml:"operations"`
	McastGroups struct {
		List []struct {
			Name string `yaml:"name"`
		} `yaml:"list"`
	} `yaml:"mcast-groups"`
}

type yamlDefinition struct {
	Type       string      `yaml:"type"`
	Name       string      `yaml:"name"`
	Doc        string      `yaml:"doc"`
	Value      *uint64     `yaml:"value"`
	ValueStart uint64      `yaml:"value-start"`
	Entries    []yamlEntry `yaml:"entries"`
}

type yamlEntry struct {
	Name  string  `yaml:"name"`
	Doc   string  `yaml:"doc"`
	Value *uint64 `yaml:"value"`
}

type yamlSet struct {
	Name       string     `yaml:"name"`
	Doc        string     `yaml:"doc"`
	Attributes []yamlAttr `yaml:"attributes"`
}

type yamlAttr struct {
	Name        string  `yaml:"name"`
	Type        string  `yaml:"type"`
	Doc         string  `yaml:"doc"`
	Value       *uint64 `yaml:"value"`
	Enum        string  `yaml:"enum"`
	EnumAsFlags bool    `yaml:"enum-as-flags"`
	DisplayHint string  `yaml:"display-hint"`
	Checks      struct {
		Min      *uint64 `yaml:"min"`
		Max      *uint64 `yaml:"max"`
		MinLen   *uint64 `yaml:"min-len"`
		MaxLen   *uint64 `yaml:"max-len"`
		ExactLen *uint64 `yaml:"exact-len"`
	} `yaml:"checks"`
}

type yamlOp struct {
	Name         string     `yaml:"name"`
	Doc          string     `yaml:"doc"`
	Value        *uint64    `yaml:"value"`
	AttributeSet string     `yaml:"attribute-set"`
	Flags        []string   `yaml:"flags"`
	Mcgrp        string     `yaml:"mcgrp"`
	Do           *yamlSubop `yaml:"do"`
	Dump         *yamlSubop `yaml:"dump"`
	Event        *yamlAttrs `yaml:"event"`
}

type yamlSubop struct {
	Request yamlAttrs `yaml:"request"`
	Reply   yamlAttrs `yaml:"reply"`
}

type yamlAttrs struct {
	Attributes []string `yaml:"attributes"`
}

// family is the checked specification, with every number and reference settled.
type family struct {
	name   string
	doc    string
	consts []constant
	enums  []*enum
	sets   []*attrSet
	ops    []*op
	groups []string
}

type constant struct {
	name, doc string
	value     uint64
}

type enum struct {
	name, doc string
	flags     bool
	entries   []entry
}

// entry is one value of an enumeration; of flags, value is the bit number.
type entry struct {
	name, doc string
	value     uint64
}

type attrSet struct {
	name, doc string
	attrs     []*attr
}

type attr struct {
	name, typ, doc                     string
	value                              uint64
	enum                               *enum
	min, max, minLen, maxLen, exactLen *uint64
}

type op struct {
	name, doc string
	value     uint64
	set       *attrSet
	admin     bool
	group     string
	do, dump  *subop
	event     []*attr
	isEvent   bool
}

type subop struct {
	request, reply []*attr
}
