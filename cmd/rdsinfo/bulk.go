// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
)

// Results of what is done to an object, in JSON and text.
const (
	resultGone  = "gone"      // it ended by itself before its turn came
	resultWould = "would-hit" // with --dry-run
)

// bulk does something to the objects of one kind that a command line names by
// IDs, by filters, or with --all.
type bulk[T any] struct {
	noun, plural string // "connection", "connections"
	verb, done   string // "reset", "reset"
	list         string // the command that lists all
	columns      []column[*T]

	// one and matching get objects.
	one      func(context.Context, control, uint32) (T, error)
	matching func(context.Context, control) ([]T, error)
	// act does it.
	act func(context.Context, control, *T) error
	// view and line tell what became of an object, in JSON and text.
	view func(item *T, result string) any
	line func(*T) string

	all, dryRun, yes bool
}

// flags adds the flags that all such commands have.
func (b *bulk[T]) flags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVar(&b.all, "all", false, fmt.Sprintf("all %s of this network namespace", b.plural))
	fl.BoolVar(&b.dryRun, "dry-run", false, fmt.Sprintf("change nothing, list what would be %s", b.done))
	fl.BoolVar(&b.yes, "yes", false, fmt.Sprintf("do not ask before more than one is %s", b.done))
}

// run is the command. filtered tells whether there are filters.
func (b *bulk[T]) run(ctx context.Context, a *app, args []string, filtered bool) error {
	ids, err := parseIDs(b.noun, args)
	if err != nil {
		return err
	}
	named := 0
	for _, given := range []bool{len(ids) > 0, filtered, b.all} {
		if given {
			named++
		}
	}
	if named != 1 {
		return cli.Usagef("name the %s in one way: IDs, filters or --all", b.plural)
	}
	return a.with(func(c control) error {
		list, err := b.named(ctx, c, ids)
		if err != nil {
			return err
		}
		if len(list) > 1 && !b.dryRun && !b.yes {
			if err := b.confirm(a, list); err != nil {
				return err
			}
		}
		return b.actOn(ctx, a, c, list)
	})
}

// named gets the objects with the IDs, or without any those that match. There is
// at least one.
func (b *bulk[T]) named(ctx context.Context, c control, ids []uint32) ([]T, error) {
	if len(ids) == 0 {
		// A list that keeps changing may lack some of them.
		list, err := b.matching(ctx, c)
		if err == nil && len(list) == 0 {
			err = fmt.Errorf("no %s matches; %q lists all", b.noun, b.list)
		}
		return list, err
	}
	list := make([]T, 0, len(ids))
	for _, id := range ids {
		item, err := b.one(ctx, c, id)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, nil
}

// confirm shows what is about to be hit, and asks.
func (b *bulk[T]) confirm(a *app, list []T) error {
	if _, err := a.stderr.Write(table(rowsOf(b.columns, listLevel, pointers(list)))); err != nil {
		return fmt.Errorf("write to stderr: %w", err)
	}
	yes, err := a.ask(fmt.Sprintf("%s%s these %d %s?", string(b.verb[0]-'a'+'A'), b.verb[1:], len(list), b.plural))
	switch {
	case errors.Is(err, errNobody):
		return cli.Usagef("that would %s %d %s; add --yes, or --dry-run to list them", b.verb, len(list), b.plural)
	case err != nil:
		return err
	case !yes:
		return fmt.Errorf("nothing was %s", b.done)
	}
	return nil
}

// actOn hits objects one by one, so that none is hit that was not shown. What
// became of each is printed even where a later one fails.
func (b *bulk[T]) actOn(ctx context.Context, a *app, c control, list []T) error {
	views, lines := []any{}, []byte(nil)
	var failed error
	for i := range list {
		item, result := &list[i], resultWould
		if !b.dryRun {
			result = b.done
			err := b.act(ctx, c, item)
			if errors.Is(err, fs.ErrNotExist) {
				result = resultGone
			} else if err != nil {
				failed = err
				break
			}
		}
		views = append(views, b.view(item, result))
		lines = fmt.Appendf(lines, "%s: %s %s\n", result, b.noun, b.line(item))
	}
	if a.json {
		return errors.Join(failed, a.printJSON(views))
	}
	return errors.Join(failed, a.print(lines))
}

// parseIDs reads the numbers of objects of the kind what, each once.
func parseIDs(what string, args []string) ([]uint32, error) {
	var ids []uint32
	seen := map[uint32]bool{}
	for _, arg := range args {
		id, err := parseID(what, arg)
		if err != nil {
			return nil, err
		}
		if seen[id] {
			return nil, cli.Usagef("%s %d is given twice", what, id)
		}
		seen[id] = true
		ids = append(ids, id)
	}
	return ids, nil
}
