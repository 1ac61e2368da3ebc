// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// step is a command whose output tells which tests passed and failed.
type step struct {
	name  string
	argv  []string
	parse parser
	// limit is how long the command may take before it is ended.
	limit time.Duration
	// verbose steps take minutes: each of their tests gets a line as it ends.
	verbose bool
}

// result is what became of a step.
type result struct {
	name string
	tally
	took time.Duration
	log  string
}

// A parser reads the output of a command to its end. It calls progress as each
// test ends.
type parser func(r io.Reader, progress func(line string)) (tally, error)

// tally counts the tests of one step.
type tally struct {
	passed  int
	failed  []failure
	skipped []string
	// whole means that the command is one test, which its exit status decides.
	whole bool
}

// failure is a failed test and the part of the output that belongs to it; empty
// where that cannot be told apart from the rest.
type failure struct {
	name   string
	output string
}

func (t *tally) fail(name, format string, args ...any) {
	t.failed = append(t.failed, failure{name, fmt.Sprintf(format, args...)})
}

func (s step) run(ctx context.Context, logs string, out io.Writer) result {
	start := time.Now()
	r := result{
		name: s.name,
		log:  filepath.Join(logs, strings.ReplaceAll(s.name, " ", "-")+".log"),
	}
	fmt.Fprintf(out, "%s ...\n", s.name)
	if err := s.execute(ctx, &r, out); err != nil {
		r.fail(s.name, "%v", err)
	} else if r.whole {
		r.passed = 1
	}
	if r.passed+len(r.failed) == 0 {
		r.fail(s.name, "the step ran no test")
	}
	r.took = time.Since(start)
	return r
}

// execute runs the command and fills in the tally of r. It returns an error for
// what no failed test accounts for.
func (s step) execute(ctx context.Context, r *result, out io.Writer) error {
	log, err := os.Create(r.log)
	if err != nil {
		return err
	}
	defer log.Close()
	limited, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()

	cmd := exec.CommandContext(limited, s.argv[0], s.argv[1:]...)
	// A group of its own, so that what the command has started ends with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	output, input := io.Pipe()
	var tail bytes.Buffer
	cmd.Stdout = input
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return err
	}
	waited := make(chan error, 1)
	go func() {
		waited <- cmd.Wait()
		input.Close()
	}()

	progress := func(line string) {
		if s.verbose {
			fmt.Fprintf(out, "  %s\n", line)
		}
	}
	parseErr := error(nil)
	r.tally, parseErr = s.parse(io.TeeReader(output, io.MultiWriter(log, &tail)), progress)
	// What a parser left unread still has to be taken, or the command hangs.
	_, drainErr := io.Copy(io.MultiWriter(log, &tail), output)
	status := <-waited

	switch {
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return fmt.Errorf("ended after %v\n%s", s.limit, lastLines(tail.String(), 40))
	case status != nil && len(r.failed) == 0:
		return fmt.Errorf("%w\n%s", status, lastLines(tail.String(), 40))
	case status == nil && len(r.failed) > 0:
		return errors.New("tests failed but the command reports success")
	}
	return errors.Join(parseErr, drainErr)
}

// report prints the outcome of the step: one line, and all failures.
func (r result) report(out io.Writer) {
	for _, f := range r.failed {
		fmt.Fprintf(out, "--- FAILED: %s: %s\n", r.name, f.name)
		for line := range strings.Lines(f.output) {
			fmt.Fprintf(out, "    %s\n", strings.TrimRight(line, "\n"))
		}
	}
	verdict := "ok"
	if len(r.failed) > 0 {
		verdict = "FAILED (all output: " + r.log + ")"
	}
	fmt.Fprintf(out, "%s: %s, %d passed, %d failed, %.1f s\n", r.name, verdict,
		r.passed, len(r.failed), r.took.Seconds())
}

// lastLines returns the last n lines of s.
func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
