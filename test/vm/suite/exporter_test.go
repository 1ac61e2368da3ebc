// SPDX-License-Identifier: MIT

package suite

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// A real Prometheus scrapes two hosts under traffic. It has the hosts' numbers,
// takes the rules, and answers every question of the dashboard.
func TestExporter(t *testing.T) {
	p := boot(t, ours(), ours())
	hosts := map[*vm.Node]*httptest.Server{p.a: p.exporter(p.a), p.b: p.exporter(p.b)}
	prom := p.prometheus(hosts[p.a].Listener.Addr(), hosts[p.b].Listener.Addr())

	server := p.serve(p.b)
	run := p.start(p.a, "2>.", stressArgsLoud(p.a, p.b, "--mode", "both", "--time", "1h", "--duplex")...)
	for query, want := range map[string]string{
		`sum(rds_up)`:                               "2",
		`sum(rds_ext_up)`:                           "2",
		`sum(rds_scrape_error)`:                     "0",
		`sum(rds_connection_up{transport="ib"})`:    "2",
		`count(rds_ext_info)`:                       "2",
		`sum(rds_connections{peer_kind="rds_ext"})`: "2",
		`count(rds_ext_pool_in_use{device="rxe0"})`: "2",
		// Everything that goes on is seen to go on, on both hosts.
		`count(rate(rds_connection_sent_messages_total[1m]) > 0)`:        "2",
		`count(rate(rds_send_rdma_total[1m]) > 0)`:                       "2",
		`count(sum by (instance) (rate(rds_ext_mr_ends_total[1m])) > 0)`: "2",
		`count(rate(rds_ext_exthdr_tx_total{name="RDMA_DEST"}[1m]) > 0)`: "2",
		`count(rate(rds_ext_pool_registrations_total[1m]) > 0)`:          "2",
	} {
		p.eventually(query+" is "+want, func() (bool, string) {
			got := prom.value(query)
			return got == want, got
		})
	}
	prom.dashboard()
	prom.rules()
	p.verdict(p.stop(run).Stdout)

	// At rest, Prometheus and rdsinfo say the same.
	for n, s := range hosts {
		c := p.ib(n)
		p.eventually(fmt.Sprintf("%s has sent %d messages", n.Name(), *c.NextTX-1), func() (bool, string) {
			c = p.ib(n)
			got := prom.value(fmt.Sprintf(`rds_connection_sent_messages_total{transport="ib", instance=%q}`, s.Listener.Addr()))
			return got == fmt.Sprint(*c.NextTX-1), got
		})
	}
	p.stop(server)

	// A host whose module goes is noticed.
	p.drain(p.a)
	p.unload(p.a)
	p.eventually("rds_ext.ko is missed", func() (bool, string) {
		got := prom.value(`count(rds_ext_up == 0) + count(rds_up == 1)`)
		return got == "3", got
	})
	p.load(p.a)
}

// exporter starts the exporter on a node, and a server on this host that hands
// its scrapes through.
func (p *pair) exporter(n *vm.Node) *httptest.Server {
	p.Helper()
	// A VM has no other use for it.
	if err := n.SetUpNetwork(p.ctx, agent.Network{Links: []agent.Link{{Name: "lo"}}}); err != nil {
		p.Fatal(err)
	}
	cmd := p.start(n, "2>^ready on ", "rdsinfo", "exporter", "--listen", "127.0.0.1:9741")
	p.Cleanup(func() { p.stop(cmd) })
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, err := n.Run(r.Context(), "httpget", "http://127.0.0.1:9741"+r.URL.Path)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = io.WriteString(w, out) // Prometheus notices what is missing
	}))
	p.Cleanup(s.Close)
	return s
}

// A promServer is a running Prometheus.
type promServer struct {
	*pair
	url string
}

const monitoring = "../../../monitoring"

// fetch runs a script that puts something into the build directory, unless it is
// there.
func fetch(t *testing.T, script string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join("../../../scripts", script), args...)
	cmd.Env = append(os.Environ(), "RDS_EXT_BUILD="+config.Build)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// prometheus starts Prometheus, which ends with the test.
func (p *pair) prometheus(targets ...net.Addr) *promServer {
	p.Helper()
	fetch(p.T, "prometheus-fetch")
	rules, err := filepath.Abs(filepath.Join(monitoring, "alerts.yaml"))
	if err != nil {
		p.Fatal(err)
	}
	dir := p.TempDir()
	cfg := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%q]\n"+
		"scrape_configs:\n- job_name: rds\n  static_configs:\n  - targets: [", rules)
	for i, a := range targets {
		cfg += strings.Repeat(", ", min(i, 1)) + fmt.Sprintf("%q", a)
	}
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(cfg+"]\n"), 0o644); err != nil {
		p.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.Fatal(err)
	}
	addr := l.Addr().String() // free, until somebody else takes it
	if err := l.Close(); err != nil {
		p.Fatal(err)
	}
	var log strings.Builder
	cmd := exec.CommandContext(p.ctx, filepath.Join(config.Build, "prometheus/usr/bin/prometheus"),
		"--config.file", filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path", filepath.Join(dir, "data"),
		"--web.listen-address", addr, "--log.level", "warn")
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		err := cmd.Process.Signal(syscall.SIGTERM)
		if werr := cmd.Wait(); err != nil || werr != nil || p.Failed() {
			p.Logf("prometheus: %v, %v\n%s", err, werr, log.String())
		}
	})
	prom := &promServer{p, "http://" + addr}
	p.eventually("Prometheus is ready", func() (bool, string) {
		r, err := http.Get(prom.url + "/-/ready")
		if err != nil {
			return false, err.Error()
		}
		return r.StatusCode == http.StatusOK, fmt.Sprint(r.Status, r.Body.Close())
	})
	return prom
}

// get asks the API for something.
func (q *promServer) get(path string, data any) {
	q.Helper()
	r, err := http.Get(q.url + "/api/v1/" + path)
	if err != nil {
		q.Fatal(err)
	}
	b, err := io.ReadAll(r.Body)
	if cerr := r.Body.Close(); err != nil || cerr != nil {
		q.Fatal(err, cerr)
	}
	var answer struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.Unmarshal(b, &answer); err != nil || answer.Status != "success" {
		q.Fatalf("%s: %v: %s", path, err, b)
	}
	if err := json.Unmarshal(answer.Data, data); err != nil {
		q.Fatalf("%s: %v: %s", path, err, answer.Data)
	}
}

// samples are the values of a query.
func (q *promServer) samples(query string) (values []string) {
	q.Helper()
	var data struct {
		Result []struct{ Value [2]any }
	}
	q.get("query?query="+url.QueryEscape(query), &data)
	for _, r := range data.Result {
		values = append(values, fmt.Sprint(r.Value[1]))
	}
	return values
}

// value is the one value of a query, or what it has instead.
func (q *promServer) value(query string) string {
	q.Helper()
	if v := q.samples(query); len(v) != 1 {
		return fmt.Sprintf("%d values %v", len(v), v)
	} else {
		return v[0]
	}
}

// dashboard asks every question of the dashboard. Those about trouble have no
// answer while all is well.
func (q *promServer) dashboard() {
	q.Helper()
	b, err := os.ReadFile(filepath.Join(monitoring, "dashboard.json"))
	if err != nil {
		q.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(b, &board); err != nil {
		q.Fatal(err)
	}
	trouble := map[string]bool{
		"Lost connections per minute": true, "Why connections were lost last (value: seconds ago)": true,
	}
	asked := 0
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			asked++
			expr := strings.NewReplacer("$instance", ".*", "$__rate_interval", "1m").Replace(target.Expr)
			if v := q.samples(expr); len(v) == 0 && !trouble[panel.Title] {
				q.Errorf("panel %q: nothing for %s", panel.Title, expr)
			}
		}
	}
	if asked < 20 {
		q.Errorf("the dashboard has %d questions", asked)
	}
}

// rules waits until every rule has been evaluated, without an error and without
// an alert: all is well.
func (q *promServer) rules() {
	q.Helper()
	q.eventually("all rules are evaluated", func() (bool, string) {
		var data struct {
			Groups []struct {
				Rules []struct {
					Name, Health, LastError, State string
					LastEvaluation                 time.Time
				}
			}
		}
		q.get("rules", &data)
		count := 0
		for _, g := range data.Groups {
			for _, r := range g.Rules {
				count++
				if r.Health != "ok" || r.State != "inactive" {
					return false, fmt.Sprintf("%+v", r)
				}
			}
		}
		return count >= 13, fmt.Sprint(count)
	})
}
