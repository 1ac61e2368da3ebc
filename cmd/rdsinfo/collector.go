// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/rds-ext/rds_ext/gonl"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// collector reads everything once. What it has depends on what is loaded, so it
// describes nothing in advance.
type collector struct {
	ctx context.Context
	a   *app
}

// Describe tells nothing, which makes it an unchecked collector.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect reads everything. A part that fails is missing, and its
// rds_scrape_error is 1: the others are still of use.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	up, extUp := 1.0, 1.0
	out := metrics{ch}
	for _, part := range []struct {
		name string
		get  func(metrics) error
	}{
		{"conn", c.conns}, {"rds", c.rds}, {"module", c.module},
	} {
		err := part.get(out)
		failed := 0.0
		switch {
		case errors.Is(err, gonl.ErrNotLoaded):
			extUp = 0
		case errors.Is(err, rds.ErrNotLoaded):
			up = 0
		case err != nil:
			failed = 1
		}
		out.gauge("rds_scrape_error", "Whether this part of the scrape has failed, or is not complete.", failed, "part", part.name)
	}
	out.gauge("rds_up", "Whether RDS is loaded.", up)
	out.gauge("rds_ext_up", "Whether rds_ext.ko is loaded.", extUp)
	out.gauge("rds_exporter_info", "The version of this exporter.", 1, "version", buildVersion())
}

// metrics makes metrics, each with pairs of label and value.
type metrics struct{ ch chan<- prometheus.Metric }

func (m metrics) gauge(name, help string, value float64, labels ...string) {
	m.add(prometheus.GaugeValue, name, help, value, labels)
}

func (m metrics) counter(name, help string, value uint64, labels ...string) {
	m.add(prometheus.CounterValue, name, help, float64(value), labels)
}

func (m metrics) add(t prometheus.ValueType, name, help string, value float64, labels []string) {
	var names, values []string
	for i := 0; i < len(labels); i += 2 {
		names, values = append(names, labels[i]), append(values, strings.ToValidUTF8(labels[i+1], "?"))
	}
	desc := prometheus.NewDesc(name, help, names, nil)
	metric, err := prometheus.NewConstMetric(desc, t, value, values...)
	if err != nil {
		metric = prometheus.NewInvalidMetric(desc, err)
	}
	m.ch <- metric
}

func gaugeBool(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// metricName is what a name of the kernel can be part of.
var notMetric = regexp.MustCompile(`[^a-zA-Z0-9_]`)

func metricName(name string) string { return notMetric.ReplaceAllString(name, "_") }

// rds has what RDS itself tells.
func (c *collector) rds(out metrics) error {
	return c.a.withInfo(func(i info) error {
		counters, err := i.Counters()
		if err != nil {
			return err
		}
		for _, n := range counters {
			out.counter("rds_"+metricName(n.Name)+"_total", "Counter "+n.Name+" of RDS.", n.Value)
		}
		socks, err := i.Sockets()
		if err != nil {
			return err
		}
		out.gauge("rds_sockets", "RDS sockets.", float64(len(socks)))
		for _, q := range rds.Queues() {
			sums, err := depths(i, q, func(rds.MessageInfo) struct{} { return struct{}{} })
			if err != nil {
				return err
			}
			d := depthOf(sums, struct{}{})
			out.gauge("rds_queue_messages", "Messages in the queues of RDS.", float64(d.Messages), "queue", q.String())
			out.gauge("rds_queue_bytes", "Bytes of the messages in the queues of RDS.", float64(d.Bytes), "queue", q.String())
		}
		return nil
	})
}

// metricsText is the format that Prometheus reads.
func metricsText(families []*dto.MetricFamily) ([]byte, error) {
	var b bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}
