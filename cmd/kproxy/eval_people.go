package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
	"github.com/kproxy/kproxy/internal/eval/linked"
	"github.com/kproxy/kproxy/internal/eval/report"
)

// runPeople evaluates several tables about the same persons.
func (e *evaluation) runPeople(c *cobra.Command, policy *config.PolicyFile) error {
	kind := policy.People[0]
	for _, name := range []string{"methods", "effort", "l", "alpha", "label", "population"} {
		if c.Flags().Changed(name) {
			return usageError{fmt.Errorf("--%s is for a policy about one table, and this one has people", name)}
		}
	}
	paths, err := tablePaths(kind, e.data, "--data ")
	if err != nil {
		return usageError{err}
	}
	run := linked.Evaluation{K: e.grid.K, Seed: e.grid.Seed, Targets: linked.DefaultTargets}
	for _, text := range e.knows {
		knows, err := catalog.ParseKnowledge(text)
		if err != nil {
			return usageError{fmt.Errorf("--knows: %w", err)}
		}
		run.Knows = append(run.Knows, knows)
	}
	files, err := dataset.ReadTables(paths, policy.CSV)
	if err != nil {
		return err
	}
	var warnings []string
	if run.Records, warnings, err = dataset.Persons(policy, files); err != nil {
		return err
	}
	for _, warning := range warnings {
		fmt.Fprintf(c.ErrOrStderr(), "kproxy: warning: %s\n", warning)
	}
	run.Values = func(table catalog.Name, column string) []string { return files[table].Column(policy, column) }
	if e.out != "" {
		if err := report.Prepare(e.out); err != nil {
			return err
		}
	}
	bar := newProgress(os.Stderr)
	defer bar.done()
	run.Progress = func(what string, done, of int) { bar.say(fmt.Sprintf("run %d of %d: %s", done+1, of, what)) }
	r, err := run.Run(c.Context())
	if err != nil {
		return err
	}
	bar.done()
	return e.writePeople(c, r)
}

// writePeople shows the report; without any release there is nothing to show but the
// reasons.
func (e *evaluation) writePeople(c *cobra.Command, r *linked.Report) error {
	var err error
	switch {
	case e.json:
		err = r.WriteJSON(c.OutOrStdout())
	case r.Released():
		err = r.WriteText(c.OutOrStdout())
	}
	if err != nil {
		return err
	}
	if e.out != "" {
		if err := r.WriteFiles(e.out); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(c.ErrOrStderr(), "The report is in %s.\n", filepath.Join(e.out, linked.PageName)); err != nil {
			return err
		}
	}
	if !r.Released() {
		return errors.New("no run made a release:\n" + strings.Join(r.Refusals(), "\n"))
	}
	return nil
}
