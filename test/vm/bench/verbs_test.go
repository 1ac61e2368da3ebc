// SPDX-License-Identifier: MIT

package main

import (
	"testing"
)

const sendLatOut = ` Data ex. method : Ethernet
---------------------------------------------------------------------------------------
 local address: LID 0000 QPN 0x0011 PSN 0xd4832
---------------------------------------------------------------------------------------
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] 
 4096    500          503.10         4044.10      985.43   	       1028.94     	273.39 		2232.75 		4044.10
---------------------------------------------------------------------------------------
`

const sendBWOut = ` #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 4096       2000             12.49              6.22   		   0.001592
---------------------------------------------------------------------------------------
`

func TestParseVerbs(t *testing.T) {
	for column, tt := range map[string]struct {
		out  string
		want float64
	}{
		"t_typical[usec]": {sendLatOut, 985.43},
		"t_avg[usec]":     {sendLatOut, 1028.94},
		"MsgRate[Mpps]":   {sendBWOut, 0.001592},
	} {
		if v, err := parseVerbs(tt.out, column); err != nil || v != tt.want {
			t.Errorf("%s: %v, %v", column, v, err)
		}
	}
	for _, out := range []string{"", sendLatOut, " #bytes MsgRate[Mpps]\n", " #bytes MsgRate[Mpps]\n 4096 0\n", " #bytes MsgRate[Mpps]\n 4096 x\n", " #bytes MsgRate[Mpps]\n 4096 1 2\n"} {
		if v, err := parseVerbs(out, "MsgRate[Mpps]"); err == nil {
			t.Errorf("%v of %q", v, out)
		}
	}
}

func TestListens(t *testing.T) {
	const text = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:4853 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 10
   1: 00000000:4854 0100000A:0001 01 00000000:00000000 00:00000000 00000000     0        0 11
`
	if !listens(text, 0x4853) || listens(text, 0x4854) || listens("", 1) {
		t.Error("wrong")
	}
}
