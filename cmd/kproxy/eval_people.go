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
	paths, err := e.paths(kind)
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

// paths are those of the files of a kind's tables, one for each.
func (e *evaluation) paths(kind catalog.People) (map[catalog.Name]string, error) {
	paths := make(map[catalog.Name]string)
	for _, data := range e.data {
		name, path, found := strings.Cut(data, "=")
		table := catalog.ParseName(name)
		switch _, twice := paths[table]; {
		case !found || path == "":
			return nil, fmt.Errorf("--data %s does not say of which table it is: write %s=%s and so on, since the policy has people", data, kind.Root, data)
		case twice:
			return nil, fmt.Errorf("--data names table %s twice", table)
		}
		paths[table] = path
	}
	missing := []string{}
	given := len(paths)
	for _, name := range kind.Names() {
		if _, found := paths[name]; !found {
			missing = append(missing, name.String())
			continue
		}
		given--
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("there is no file of %s: write --data %s=FILE", strings.Join(missing, ", "), missing[0])
	}
	if given > 0 {
		return nil, fmt.Errorf("--data names a table that is none of %s: %s", kind.Kind, strings.Join(catalog.Texts(kind.Names()), ", "))
	}
	return paths, nil
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
