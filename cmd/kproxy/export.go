package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/build"
	"github.com/kproxy/kproxy/cmd/kproxy/export"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/tablefile"
	"github.com/kproxy/kproxy/internal/visible"
)

func newExport() *cobra.Command {
	c := &cobra.Command{
		Use:   "export TABLE...",
		Short: "Write releases that are served to CSV or Parquet files",
		Long: `Export writes published tables as readers see them now. All tables of one command come from
one snapshot, so that tables about the same persons can be joined. It reads the database as
the owner; 'kproxy serve' need not run, but must have published the tables.

With --audience, they are written as the readers of that audience see them: its rows, its
columns, its constraints. Files in a folder have its name before their ending, as in
patients.press.csv.

The ending of --out, or --format, says whether the file is CSV or Parquet. Of several
tables, --out is a folder. Rows are ordered by what they show. Beside each file
stands its manifest, FILE.json: columns, constraints, the fingerprint of the policy, the
position in the write-ahead log, the generation, the digest of the file. It holds no value of
a row.

A table that readers cannot read, because it is withheld, withdrawn, halted or not published
yet, is refused.

  kproxy export patients --out patients.parquet
  kproxy export patients visits prescriptions --out released --format csv
  kproxy export patients --audience press --out patients.press.csv

Exit codes: 0 the files are written; 1 none is; 2 wrong command line.`,
		ValidArgsFunction: completeTables,
		Args: func(c *cobra.Command, arguments []string) error {
			if len(arguments) == 0 {
				return usageError{fmt.Errorf("%s takes the tables to export", c.CommandPath())}
			}
			return nil
		},
	}
	var output fileOutput
	output.flags(c, "write to this `FILE`, or several tables into this folder; - for standard output")
	audience := c.Flags().String("audience", "", "write what this `AUDIENCE` sees (default: what upstream.reader sees)")
	_ = c.RegisterFlagCompletionFunc("audience", completeAudiences) // the flag is there
	bounded := boundedConfig(c, 0, "take at most `LONG`")
	asJSON := jsonFlag(c)
	quiet := quietFlag(c, "no progress on standard error")
	c.RunE = func(c *cobra.Command, arguments []string) error {
		if output.path == "" {
			return usageError{errors.New("--out is needed")}
		}
		return bounded(func(ctx context.Context, cfg *config.Config) error {
			e := exporting{config: cfg, audience: *audience, output: output, bar: newProgress(os.Stderr), quiet: *quiet}
			defer e.bar.done()
			manifests, err := e.run(ctx, c, tableNames(arguments))
			if err != nil {
				return err
			}
			return e.summarize(c, manifests, *asJSON)
		})
	}
	return c
}

// exporting is one run of kproxy export.
type exporting struct {
	config   *config.Config
	audience string // empty for the policy's own readers
	output   fileOutput
	bar      *progress
	quiet    bool
}

// paths are where the tables go, and their format.
func (e *exporting) paths(tables []catalog.Name) ([]string, tablefile.Format, error) {
	for i, name := range tables {
		if slices.Contains(tables[:i], name) {
			return nil, "", usageError{fmt.Errorf("table %s is named twice", name)}
		}
		if !slices.ContainsFunc(e.config.Policy.Tables, func(t catalog.TablePolicy) bool { return t.Table == name }) {
			var known []string
			for _, t := range e.config.Policy.Tables {
				known = append(known, t.Table.String())
			}
			return nil, "", failure{codeMissing, "name one of " + strings.Join(known, ", "), fmt.Errorf("the configuration protects no table %s: it has %s", name, strings.Join(known, ", "))}
		}
	}
	if err := e.checkAudience(tables); err != nil {
		return nil, "", err
	}
	if len(tables) > 1 {
		format, err := e.output.folderFormat()
		paths := e.output.inFolder(tables, format)
		for i := range paths {
			paths[i] = audiencePath(paths[i], e.audience)
		}
		return paths, format, err
	}
	format, err := e.output.fileFormat()
	return []string{e.output.path}, format, err
}

// checkAudience refuses an audience that there is not, or that does not see a table.
func (e *exporting) checkAudience(tables []catalog.Name) error {
	if e.audience == "" {
		return nil
	}
	seen, known := e.config.Policy.For(e.audience)
	if !known {
		var all []string
		for _, a := range e.config.Policy.Audiences {
			all = append(all, a.Name)
		}
		if len(all) == 0 {
			return failure{codeMissing, "leave --audience out", fmt.Errorf("the configuration has no audience %s: it has none", visible.Text(e.audience))}
		}
		return failure{codeMissing, "name one of " + strings.Join(all, ", "), fmt.Errorf("the configuration has no audience %s: it has %s", visible.Text(e.audience), strings.Join(all, ", "))}
	}
	for _, name := range tables {
		if slices.ContainsFunc(seen.Tables, func(t catalog.TablePolicy) bool { return t.Table == name }) {
			continue
		}
		all := make([]string, len(seen.Tables))
		for i, t := range seen.Tables {
			all[i] = t.Table.String()
		}
		return failure{codeMissing, fmt.Sprintf("name tables of audiences.%s.tables", e.audience), fmt.Errorf("audience %s does not see table %s: it sees %s", e.audience, name, strings.Join(all, ", "))}
	}
	return nil
}

// run writes the tables under other names, and gives them their names together.
func (e *exporting) run(ctx context.Context, c *cobra.Command, tables []catalog.Name) ([]tablefile.Manifest, error) {
	paths, format, err := e.paths(tables)
	if err != nil {
		return nil, err
	}
	if err := e.output.checkFree(paths); err != nil {
		return nil, err
	}
	snapshot, err := export.Open(ctx, e.config, e.audience, tables)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close(ctx)
	var outputs files
	defer outputs.discard()
	var manifests []tablefile.Manifest
	for i, name := range tables {
		table, err := snapshot.Table(ctx, name)
		if err != nil {
			return nil, err
		}
		output, err := outputs.create(paths[i], e.output.force, true)
		if err != nil {
			return nil, err
		}
		rows, err := snapshot.Write(ctx, table, format, output, func(rows int64) {
			if !e.quiet {
				e.bar.say(fmt.Sprintf("%s: %d rows", name, rows))
			}
		})
		if err != nil {
			return nil, err
		}
		m := snapshot.Manifest(table)
		m.File, m.Format, m.Bytes, m.SHA256, m.Rows, m.Version = filepath.Base(paths[i]), format, output.Size(), output.Digest(), rows, build.This().Version
		if manifests = append(manifests, m); paths[i] == tablefile.Stdout {
			continue
		}
		if err := outputs.addManifest(m, paths[i], e.output.force); err != nil {
			return nil, err
		}
	}
	return manifests, outputs.commit(c.OutOrStdout())
}

// summarize says what was written, on standard output unless a file went there.
func (e *exporting) summarize(c *cobra.Command, manifests []tablefile.Manifest, asJSON bool) error {
	e.bar.done()
	out := forReading(c)
	if e.output.path == tablefile.Stdout {
		out = c.ErrOrStderr()
	}
	if asJSON {
		return writeJSON(out, map[string]any{"tables": manifests})
	}
	for _, m := range manifests {
		of := m.Table
		if m.Audience != "" {
			of += " for " + m.Audience
		}
		if _, err := fmt.Fprintf(out, "%s: %d rows of %s, as of %s\n", m.File, m.Rows, of, m.Position); err != nil {
			return err
		}
	}
	return nil
}
