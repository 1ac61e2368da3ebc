// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/exporter-toolkit/web"
	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
)

const exporterHelp = `Serve what rdsinfo shows to Prometheus, over HTTP, until Ctrl-C or SIGTERM: the
connections by state, version, features and kind of peer, and for each its ups,
downs, messages and queues; the counters of RDS, of its transports, of the MR
engine and of the extension headers; the pools; the age of the oldest use-once MR;
and the settings. "rdsinfo exporter --list" prints what there is.

It reads everything anew for each scrape, and needs no privilege. Without rds_ext.ko
it serves what RDS itself tells, and rds_ext_up is 0; without RDS, rds_up is 0.
R_Keys are never served. Dashboard and alert rules are in the directory "monitoring"
of the project.

--config names a file with certificates, and users with passwords, in the format of
Prometheus' exporters (web-config).`

// Limits of the HTTP server.
const (
	exporterAddr     = "localhost:9741"
	exporterInFlight = 4
	exporterTimeout  = 30 * time.Second // of one scrape
	headerTimeout    = 10 * time.Second
	shutdownTimeout  = 5 * time.Second
)

func (a *app) exporterCmd() *cobra.Command {
	var addrs []string
	var config string
	var list bool
	cmd := &cobra.Command{
		Use:   "exporter",
		Short: "Serve metrics to Prometheus",
		Long:  exporterHelp,
		Example: "  rdsinfo exporter --listen :9741\n" +
			"  rdsinfo exporter --listen 192.0.2.1:9741 --config /etc/rdsinfo/web.yml\n" +
			"  rdsinfo exporter --list",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if list {
				return a.printMetrics(cmd.Context())
			}
			return a.export(cmd.Context(), addrs, config)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&addrs, "listen", []string{exporterAddr}, "serve at this `ADDR:PORT`; may be given several times")
	fl.StringVar(&config, "config", "", "`FILE` with certificates and users, web-config of Prometheus' exporters")
	fl.BoolVar(&list, "list", false, "print the metrics of now and end")
	return cmd
}

// gatherer reads everything once, under a context.
func (a *app) gatherer(ctx context.Context) (prometheus.Gatherer, error) {
	r := prometheus.NewPedanticRegistry()
	err := r.Register(&collector{ctx: ctx, a: a})
	return r, err
}

// printMetrics writes the metrics of now.
func (a *app) printMetrics(ctx context.Context) error {
	g, err := a.gatherer(ctx)
	if err != nil {
		return err
	}
	families, err := g.Gather()
	if err != nil {
		return err
	}
	b, err := metricsText(families)
	if err != nil {
		return err
	}
	return a.print(b)
}

// export serves until the context ends.
func (a *app) export(ctx context.Context, addrs []string, config string) error {
	if err := web.Validate(config); err != nil {
		return cli.Usagef("--config: %v", err)
	}
	var listeners []net.Listener
	for _, addr := range addrs {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
		if err != nil {
			return errors.Join(fmt.Errorf("--listen: %w", err), closeAll(listeners))
		}
		listeners = append(listeners, l)
	}
	log := slog.New(slog.NewTextHandler(a.stderr, nil))
	server := &http.Server{Handler: a.exporterHandler(log), ReadHeaderTimeout: headerTimeout}
	for _, l := range listeners {
		// Scripts wait for this line; with port 0 it says which it became.
		if _, err := fmt.Fprintf(a.stderr, "ready on %v\n", l.Addr()); err != nil {
			return errors.Join(fmt.Errorf("write to stderr: %w", err), closeAll(listeners))
		}
	}
	ended := make(chan error, 1)
	none := false
	go func() {
		ended <- web.ServeMultiple(listeners, server, &web.FlagConfig{
			WebListenAddresses: &addrs, WebSystemdSocket: &none, WebConfigFile: &config,
		}, log)
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	// Scrapes under way may end, for a while.
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	err := server.Shutdown(stop)
	if serr := <-ended; !errors.Is(serr, http.ErrServerClosed) {
		err = errors.Join(err, serr)
	}
	return err
}

func closeAll(listeners []net.Listener) (err error) {
	for _, l := range listeners {
		err = errors.Join(err, l.Close())
	}
	return err
}

// exporterHandler serves the metrics, and a page that leads there.
func (a *app) exporterHandler(log *slog.Logger) http.Handler {
	inFlight := make(chan struct{}, exporterInFlight)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		select {
		case inFlight <- struct{}{}:
			defer func() { <-inFlight }()
		default:
			http.Error(w, "too many scrapes at a time", http.StatusServiceUnavailable)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), exporterTimeout)
		defer cancel()
		g, err := a.gatherer(ctx)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		promhttp.HandlerFor(g, promhttp.HandlerOpts{ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelError)}).ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		// The reader is gone if this fails.
		_, _ = fmt.Fprintf(w, "<!DOCTYPE html><title>rdsinfo exporter</title><h1>rdsinfo exporter</h1><p>Version %s: <a href=\"/metrics\">metrics</a></p>\n",
			html.EscapeString(buildVersion()))
	})
	return mux
}
