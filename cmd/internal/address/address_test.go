// SPDX-License-Identifier: MIT

package address

import (
	"context"
	"errors"
	"net/netip"
	"testing"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
)

func TestResolve(t *testing.T) {
	for in, want := range map[string]string{"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "[2001:db8::1]": "2001:db8::1", "localhost": ""} {
		got, err := Resolve(t.Context(), in)
		if err != nil || want != "" && got.String() != want || want == "" && !got.IsLoopback() {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	var usage cli.UsageError
	if _, err := Resolve(t.Context(), "host.invalid"); !errors.As(err, &usage) {
		t.Errorf("an unknown host: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Resolve(ctx, "host.invalid"); err == nil || err.Error() != "interrupted" {
		t.Errorf("cancelled: %v", err)
	}
}

func TestRouteSource(t *testing.T) {
	lo := netip.MustParseAddr("127.0.0.1")
	if a, err := RouteSource(lo, "--local"); err != nil || a != lo {
		t.Errorf("source for %v: %v, %v", lo, a, err)
	}
}
