// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/rds-ext/rds_ext/gonl"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

func TestExporterList(t *testing.T) {
	version = "v1.2.3"
	code, out, errs := rdsinfo(t.Context(), newFake(), "exporter", "--list")
	if code != exitOK || errs != "" {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	golden(t, "exporter-list", out)
	code, out, errs = rdsinfoStock(t.Context(), newFakeInfo(), "exporter", "--list")
	if code != exitOK || errs != "" {
		t.Fatalf("stock: exit code %d: %s", code, errs)
	}
	golden(t, "exporter-list-stock", out)
	if strings.Contains(out, "a12ff00") || strings.Contains(out, "169017088") {
		t.Error("an R_Key is served")
	}
}

// The names and help texts are as Prometheus wants them.
func TestExporterLint(t *testing.T) {
	g, err := fakeApp(newFake(), newFakeInfo(), nil, nil).gatherer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	problems, err := testutil.GatherAndLint(g)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// What fails is told, and the rest is served.
func TestExporterFailures(t *testing.T) {
	broken := newFakeInfo()
	broken.err = errors.New("broken")
	partial := newFake()
	partial.err = fmt.Errorf("changing: %w", gonl.ErrPartial)
	for _, tt := range []struct {
		name   string
		c      *fakeControl
		i      *fakeInfo
		change func(*app)
		want   []string
	}{
		{"all well", newFake(), newFakeInfo(), nil, []string{
			"rds_up 1", "rds_ext_up 1", `rds_scrape_error{part="conn"} 0`, `rds_scrape_error{part="module"} 0`, `rds_scrape_error{part="rds"} 0`,
		}},
		{"RDS fails", newFake(), broken, nil, []string{
			`rds_scrape_error{part="conn"} 1`, `rds_scrape_error{part="rds"} 1`, `rds_scrape_error{part="module"} 0`, "rds_ext_mrs_live 2",
		}},
		{"incomplete lists", partial, newFakeInfo(), nil, []string{`rds_scrape_error{part="conn"} 1`, "rds_ext_up 1", "rds_connections{"}},
		{"no RDS", nil, nil, func(a *app) {
			a.dial = noModule
			a.info = func() (info, error) { return nil, &rds.Error{Op: "socket", Err: syscall.EAFNOSUPPORT} }
		}, []string{"rds_up 0", "rds_ext_up 0", `rds_scrape_error{part="rds"} 0`}},
	} {
		var out, errs strings.Builder
		a := fakeApp(tt.c, tt.i, &out, &errs)
		if tt.change != nil {
			tt.change(a)
		}
		if code := a.run(t.Context(), []string{"exporter", "--list"}); code != exitOK {
			t.Errorf("%s: exit code %d: %s", tt.name, code, errs.String())
		}
		for _, want := range tt.want {
			if !strings.Contains("\n"+out.String(), "\n"+want) {
				t.Errorf("%s: no %q in\n%s", tt.name, want, out.String())
			}
		}
	}
}

func TestExporterHandler(t *testing.T) {
	a := fakeApp(newFake(), newFakeInfo(), nil, nil)
	s := httptest.NewServer(a.exporterHandler(slog.New(slog.DiscardHandler)))
	defer s.Close()
	for _, tt := range []struct {
		method, path string
		status       int
		want         string
	}{
		{"GET", "/metrics", 200, "rds_ext_up 1"},
		{"GET", "/", 200, `<a href="/metrics">`},
		{"GET", "/nothing", 404, ""},
		{"POST", "/metrics", 405, ""},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, s.URL+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r.Body)
		if err = errors.Join(err, r.Body.Close()); err != nil || r.StatusCode != tt.status || !strings.Contains(string(b), tt.want) {
			t.Errorf("%s %s: %v, status %d, want %d with %q: %s", tt.method, tt.path, err, r.StatusCode, tt.status, tt.want, b)
		}
	}
}

// slow answers when it is told to.
type slow struct {
	*fakeControl
	asked, answer chan struct{}
}

func (s slow) Conns(ctx context.Context, f gonl.Filter) ([]gonl.Conn, error) {
	s.asked <- struct{}{}
	<-s.answer
	return s.fakeControl.Conns(ctx, f)
}

// Scrapes that come faster than they are answered are refused.
func TestExporterInFlight(t *testing.T) {
	c := slow{newFake(), make(chan struct{}), make(chan struct{})}
	h := fakeApp(c, newFakeInfo(), nil, nil).exporterHandler(slog.New(slog.DiscardHandler))
	get := func() int {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
		return w.Code
	}
	var all sync.WaitGroup
	for range exporterInFlight {
		all.Go(func() {
			if code := get(); code != http.StatusOK {
				t.Errorf("status %d", code)
			}
		})
		<-c.asked
	}
	if code := get(); code != http.StatusServiceUnavailable {
		t.Errorf("one more: status %d", code)
	}
	close(c.answer)
	all.Wait()
}

// lines passes on what is printed, line by line.
type lines chan string

func (l lines) Write(b []byte) (int, error) { l <- string(b); return len(b), nil }

func TestExporterServes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	errs := make(lines, 100)
	code := make(chan int)
	a := fakeApp(newFake(), newFakeInfo(), nil, errs)
	go func() { code <- a.run(ctx, []string{"exporter", "--listen", "127.0.0.1:0"}) }()
	ready := regexp.MustCompile(`^ready on (.*)\n$`).FindStringSubmatch(<-errs)
	if ready == nil {
		t.Fatal("it does not say that it is ready")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+ready[1]+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r.Body)
	if err = errors.Join(err, r.Body.Close()); err != nil || !strings.Contains(string(b), "rds_ext_up 1") {
		t.Errorf("%v: %s", err, b)
	}
	cancel()
	select {
	case c := <-code:
		if c != exitOK {
			t.Errorf("exit code %d", c)
		}
	case <-time.After(2 * shutdownTimeout):
		t.Fatal("it does not end")
	}
}

func TestExporterErrors(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--listen", l.Addr().String()}, exitFailure, "address already in use"},
		{[]string{"--listen", "nonsense"}, exitFailure, "missing port"},
		{[]string{"--config", "testdata/none.yml"}, exitUsage, "--config: "},
		{[]string{"x"}, exitUsage, "unknown command"},
	} {
		code, _, errs := rdsinfo(t.Context(), newFake(), append([]string{"exporter"}, tt.args...)...)
		if code != tt.code || !strings.Contains(errs, tt.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("exporter %v: exit code %d, %q; want %d, %q", tt.args, code, errs, tt.code, tt.want)
		}
	}
}
