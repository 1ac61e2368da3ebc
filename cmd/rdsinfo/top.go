// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
	"github.com/rds-ext/rds_ext/gonl"
)

const topHelp = `Show what goes on, anew every --interval, until Ctrl-C: of the whole host the messages,
RDMA operations, resets and MRs in each second; the pools of the MR engine; the
connections, the busiest first; and the last events.

TX/S and RX/S are messages in each second, those that RDS sends by itself included.
Without rds_ext.ko there are no pools and no events.

On a terminal it fills the screen; elsewhere it prints one view behind the other.
With --json, each view is one line.`

// topEvents is how many events are kept.
const topEvents = 100

func (a *app) topCmd() *cobra.Command {
	var interval time.Duration
	var count uint
	cmd := &cobra.Command{
		Use:     "top",
		Short:   "Show rates of connections, MR pools and events, live",
		Long:    topHelp,
		Example: "  rdsinfo top\n  rdsinfo top --interval 5s --count 12 --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if interval < watchMin {
				return cli.Usagef("--interval must be at least %v, not %v", watchMin, interval)
			}
			if cmd.Flags().Changed("count") && count == 0 {
				return cli.Usagef("--count must be at least 1")
			}
			return a.top(cmd.Context(), interval, count)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	fl := cmd.Flags()
	fl.DurationVarP(&interval, "interval", "i", time.Second, "show it anew every `INTERVAL`")
	fl.UintVarP(&count, "count", "c", 0, "end after so many views")
	return cmd
}

// top shows views until count of them, or for ever if it is 0.
func (a *app) top(ctx context.Context, interval time.Duration, count uint) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	log := &eventLog{max: topEvents}
	followed, err := a.follow(ctx, log)
	if err != nil {
		return ended(err)
	}
	if followed != nil {
		defer func() {
			cancel()
			err = errors.Join(err, ended(<-followed))
		}()
	}
	before, err := a.sample(ctx)
	if err != nil {
		return ended(err)
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	var recent []topEvent
	for shown := uint(0); count == 0 || shown < count; shown++ {
		select {
		case <-ctx.Done():
			return nil
		case err := <-followed:
			followed <- nil // for whoever waits for the end
			return ended(err)
		case <-tick.C:
		}
		now, err := a.sample(ctx)
		if err != nil {
			return ended(err)
		}
		v := newTopView(before, now, log.take())
		if recent = append(recent, v.Events...); len(recent) > topEvents {
			recent = slices.Delete(recent, 0, len(recent)-topEvents)
		}
		if err := a.printTop(v, recent); err != nil {
			return err
		}
		before = now
	}
	return nil
}

// follow notes events until the context ends, or fails, which is sent then.
// Without rds_ext.ko there are none, and no channel.
func (a *app) follow(ctx context.Context, log *eventLog) (chan error, error) {
	c, err := a.dial()
	if errors.Is(err, gonl.ErrNotLoaded) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := c.Events(ctx, eventGroups...)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	ended := make(chan error, 1)
	go func() {
		for {
			ev, err := s.Next()
			if err != nil {
				ended <- errors.Join(err, s.Close(), c.Close())
				return
			}
			log.add(ev)
		}
	}()
	return ended, nil
}

// printTop shows a view as it fits. On a screen the recent events stay.
func (a *app) printTop(v topView, recent []topEvent) error {
	if a.json {
		return writeJSONLine(outputWriter{a}, v)
	}
	rows, screen := screenRows(a.stdout)
	if !screen {
		return a.print(append(v.text(0), '\n'))
	}
	v.Events = recent
	return a.print(append([]byte(clearScreen), v.text(rows)...))
}

// screenRows is how many lines fit on a terminal.
func screenRows(w any) (rows int, ok bool) {
	f, ok := w.(*os.File)
	if !ok {
		return 0, false
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(size.Row), true
}

// text is the view in lines; all of it with rows 0, else what fits.
func (v topView) text(rows int) []byte {
	b := fmt.Appendf(nil, "%s  over %.1f s", v.Time.Format(time.RFC3339), v.Seconds)
	if !v.Loaded {
		b = append(b, "  rds_ext.ko is not loaded"...)
	}
	b = append(b, "\n\n"...)
	b = append(b, table([][]string{
		{"SENT/S", "RECEIVED/S", "RDMA/S", "RDMA BYTES/S", "RESETS/S", "MRS MAPPED/S", "MRS LIVE"},
		{
			rateText(v.Host.Sent), rateText(v.Host.Received), rateText(v.Host.Operations), rateText(v.Host.Bytes),
			rateText(v.Host.Resets), rateText(v.Host.Mapped), optionalNumber(v.Host.LiveMRs),
		},
	})...)
	if len(v.Pools) > 0 {
		b = append(append(b, '\n'), table(rowsOf(topPoolColumns, listLevel, v.Pools))...)
	}
	conns, events := v.Conns, v.Events
	if rows > 0 {
		used := 6 // the head, its table, and the titles behind
		if len(v.Pools) > 0 {
			used += len(v.Pools) + 2
		}
		left := max(0, rows-used-3)
		events = events[len(events)-min(len(events), max(left/3, left-len(conns))):]
		conns = conns[:min(len(conns), left-len(events))]
	}
	b = append(append(b, '\n'), table(rowsOf(topConnColumns, listLevel, conns))...)
	if n := len(v.Conns) - len(conns); n > 0 {
		b = fmt.Appendf(b, "and %d more\n", n)
	}
	if len(events) > 0 {
		b = append(b, '\n')
		for _, ev := range events {
			b = append(b, ev.line()...)
		}
	}
	return b
}
