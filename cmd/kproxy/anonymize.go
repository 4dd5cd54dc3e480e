package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/build"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
	"github.com/kproxy/kproxy/internal/release"
	"github.com/kproxy/kproxy/internal/tablefile"
	"github.com/kproxy/kproxy/internal/verify"
	ksync "github.com/kproxy/kproxy/sync"
)

// anonymization holds the flags of kproxy anonymize.
type anonymization struct {
	policy      string
	output      fileOutput
	seed        uint64
	json, quiet bool

	bar *progress
}

func newAnonymize() *cobra.Command {
	var a anonymization
	c := &cobra.Command{
		Use:   "anonymize [TABLE=]FILE...",
		Short: "Anonymize CSV or Parquet files under a policy, without a server",
		Long: `Anonymize releases a file under the policy that 'kproxy eval' takes, without a database.
What a column becomes is what it becomes of a table that is served: its ranges, values and labels,
by the method of the policy. Records that fit no class, and identifying columns, are left out.
Every column of the file needs a role.

FILE is CSV, in the form that the policy's section csv describes, or Parquet where its name
ends in .parquet; - is CSV from standard input. --out names the release. Its ending, or
--format, says whether it is CSV or Parquet; --out - is CSV to standard output. The rows of a
release are ordered by what they show, so that their order tells nothing of the source's.

With audiences in the policy, each gets a file besides: of people.csv partners get
people.partners.csv. Their classes are unions of those of the release before, so that who has
several of the files learns what the first one tells.

With people in the policy, give TABLE=FILE for each table, and a folder as --out. The
tables are released together, with pseudonyms in place of keys.

Before a file gets its name, it is read back: the rows that look alike are counted, and
compared with the constraints, and what is shown is compared with the records. A file that
does not pass is removed, and the command fails. Beside the release stands its manifest,
FILE.json: columns, constraints, checks, the digest of the file. It holds no value of a row.

The memory needed grows with the file: see docs/files.md.

  kproxy init --data people.csv --out policy.yaml
  kproxy anonymize people.csv --policy policy.yaml --out people.parquet
  kproxy anonymize patients=patients.csv visits=visits.parquet \
    --policy hospital.yaml --out released --format csv

Exit codes: 0 the release is written; 1 nothing is written; 2 wrong command line.`,
		Args: someFiles,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
	}
	flags := c.Flags()
	flags.StringVar(&a.policy, "policy", "", "policy `FILE` with the sections csv and tables, and maybe people")
	a.output.flags(c, "write the release to this `FILE`, or with people into this folder; - for standard output")
	flags.Uint64Var(&a.seed, "seed", 1, "`SEED` of the method, which decides between equals")
	flags.BoolVar(&a.json, "json", false, "write a summary as JSON: loss, classes, withheld records, checks; errors too (those on standard error)")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "no progress and no warnings on standard error")
	c.RunE = func(c *cobra.Command, arguments []string) error {
		if a.policy == "" || a.output.path == "" {
			return usageError{errors.New("--policy and --out are needed; 'kproxy init --data FILE' drafts a policy")}
		}
		policy, err := config.LoadPolicy(a.policy)
		if err != nil {
			return fmt.Errorf("the policy cannot be used:\n%w", err)
		}
		a.bar = newProgress(os.Stderr)
		defer a.bar.done()
		run := a.single
		if len(policy.People) > 0 {
			run = a.people
		}
		return run(c, policy, arguments)
	}
	return c
}

// someFiles wants at least one argument.
func someFiles(c *cobra.Command, arguments []string) error {
	if len(arguments) == 0 {
		return usageError{fmt.Errorf("%s takes the file to anonymize", c.CommandPath())}
	}
	return nil
}

// say shows progress.
func (a *anonymization) say(format string, arguments ...any) {
	if !a.quiet {
		a.bar.say(fmt.Sprintf(format, arguments...))
	}
}

func (a *anonymization) warn(c *cobra.Command, warnings []string) {
	a.bar.done()
	for _, warning := range warnings {
		if !a.quiet {
			fmt.Fprintf(c.ErrOrStderr(), "kproxy: warning: %s\n", warning)
		}
	}
}

// options tell of the method's progress.
func (a *anonymization) options() release.Options {
	return release.Options{Seed: a.seed, Progress: func(done, total int) { a.say("%s anonymizing", gauge(done, total)) }}
}

// single anonymizes one file.
func (a *anonymization) single(c *cobra.Command, policy *config.PolicyFile, arguments []string) error {
	if len(arguments) > 1 {
		return usageError{errors.New("several files are for a policy with people: this one is about one table")}
	}
	format, err := a.output.fileFormat()
	if err != nil {
		return err
	}
	if len(policy.Table.Audiences) > 0 && a.output.path == tablefile.Stdout {
		return usageError{errors.New("the policy has audiences, each of which gets a file: give a file as --out")}
	}
	paths := audiencePaths(a.output.path, policy.Table.Audiences)
	if err := a.output.checkFree(paths); err != nil {
		return err
	}
	path := arguments[0]
	if table, rest, named := strings.Cut(path, "="); named && catalog.ParseName(table) == policy.Table.Table {
		path = rest
	}
	file, err := dataset.ReadWatched(c.Context(), path, c.InOrStdin(), policy.CSV, func(records int) { a.say("reading: %d records", records) })
	if err != nil {
		return err
	}
	made, warnings, err := release.Of(c.Context(), file, policy, a.options())
	if err != nil {
		return inapplicable(err)
	}
	a.warn(c, warnings)
	all, err := a.forAudiences(c, policy, made)
	if err != nil {
		return err
	}
	w := writing{format: format, paths: paths, policy: policy.Policy()}
	for _, one := range all {
		w.rows, w.figures = append(w.rows, one.Rows), append(w.figures, one.Figures)
		w.constraints = append(w.constraints, shownConstraints(policy.Table, one.Audience))
	}
	w.prove = func(ctx context.Context, paths []string, told func(int)) (proofs [][]verify.Check, err error) {
		for i, one := range all {
			checks, err := one.Prove(ctx, format, paths[i], told)
			if err != nil {
				return nil, err
			}
			proofs = append(proofs, checks)
		}
		return proofs, nil
	}
	return a.write(c, w)
}

// forAudiences makes the releases of a policy's audiences, each of the one before. All stand behind that of the
// table's own readers.
func (a *anonymization) forAudiences(c *cobra.Command, policy *config.PolicyFile, made *release.Single) ([]*release.Single, error) {
	all := []*release.Single{made}
	for _, audience := range policy.Table.Audiences {
		a.say("uniting classes for %s", audience.Audience)
		next, err := all[len(all)-1].ForAudience(c.Context(), audience.Audience, a.options())
		if err != nil {
			return nil, inapplicable(err)
		}
		all = append(all, next)
	}
	return all, nil
}

// audiencePaths are the paths of a table's releases.
func audiencePaths(path string, audiences []catalog.AudiencePolicy) []string {
	paths := []string{path}
	for _, audience := range audiences {
		paths = append(paths, audiencePath(path, audience.Audience))
	}
	return paths
}

// shownConstraints are those that hold for what an audience sees of a table, or, where that is empty, its own readers. Those on
// columns that they do not see hold as well, and are not told.
func shownConstraints(table catalog.TablePolicy, audience string) (all []string) {
	of, shown := table.Shown(), true
	if audience != "" {
		of, shown = table.For(audience)
	}
	if !shown {
		return nil
	}
	for _, constraint := range of.Constraints {
		all = append(all, constraint.String())
	}
	return all
}

// people anonymizes the files of tables about the same persons.
func (a *anonymization) people(c *cobra.Command, policy *config.PolicyFile, arguments []string) error {
	kind := policy.People[0]
	format, err := a.output.folderFormat()
	if err != nil {
		return err
	}
	paths, err := tablePaths(kind, arguments, "")
	if err != nil {
		return usageError{err}
	}
	outputs := a.output.inFolder(kind.Names(), format)
	if err := a.output.checkFree(outputs); err != nil {
		return err
	}
	files, err := dataset.ReadTablesWatched(c.Context(), paths, policy.CSV, func(records int) { a.say("reading: %d records", records) })
	if err != nil {
		return err
	}
	made, warnings, err := release.OfPeople(c.Context(), files, policy, a.options())
	if err != nil {
		return inapplicable(err)
	}
	a.warn(c, warnings)
	var constraints []string
	for _, constraint := range kind.Constraints {
		constraints = append(constraints, constraint.String())
	}
	return a.write(c, writing{
		format: format, paths: outputs, rows: made.Tables, figures: made.Figures,
		policy: policy.Policy(), constraints: slices.Repeat([][]string{constraints}, len(outputs)), promise: made.Kind.Explain(), together: catalog.Texts(kind.Names()),
		prove: func(ctx context.Context, paths []string, told func(int)) ([][]verify.Check, error) {
			return made.Prove(ctx, format, paths, told)
		},
	})
}

// inapplicable says that a policy does not fit a file, unless the error says what it is.
func inapplicable(err error) error {
	var coded interface{ Code() string }
	if errors.As(err, &coded) || errors.Is(err, context.Canceled) {
		return err
	}
	return failure{codeConfiguration, "correct the policy or the file; 'kproxy init --data FILE' drafts a policy", err}
}

// writing is a release that is to be written, table by table.
type writing struct {
	format      tablefile.Format
	paths       []string
	rows        []*release.Rows
	figures     []release.Figures
	policy      catalog.Policy
	constraints [][]string // of each table
	promise     string
	together    []string
	prove       func(ctx context.Context, paths []string, told func(rows int)) ([][]verify.Check, error)
}

// anonymized is what became of a table, as JSON.
type anonymized struct {
	release.Figures
	File   string          `json:"file"`
	SHA256 string          `json:"sha256"`
	Proof  tablefile.Proof `json:"proof"`
}

// write writes the files under other names, proves them, and gives them their names.
func (a *anonymization) write(c *cobra.Command, w writing) (err error) {
	var outputs files
	defer outputs.discard()
	var parts []string
	for i, rows := range w.rows {
		output, err := outputs.create(w.paths[i], a.output.force)
		if err != nil {
			return err
		}
		parts = append(parts, output.Name())
		told := func(n int) { a.say("%s writing %s", gauge(n, rows.Len()), w.figures[i].Table) }
		if err := rows.Write(c.Context(), w.format, output, told); err != nil {
			return fmt.Errorf("writing %s: %w", w.paths[i], err)
		}
	}
	proofs, err := w.prove(c.Context(), parts, func(n int) { a.say("verifying what was written: %d rows", n) })
	if err != nil {
		return err
	}
	a.bar.done()
	summary := make([]anonymized, len(w.rows))
	for i := range w.rows {
		proof := tablefile.Proof{Passed: !slices.ContainsFunc(proofs[i], func(c verify.Check) bool { return !c.Passed }), Checks: proofs[i]}
		summary[i] = anonymized{w.figures[i], w.paths[i], outputs.list[i].Digest(), proof}
	}
	if err := unproven(summary); err != nil {
		return err
	}
	if err := a.addManifests(w, summary, &outputs); err != nil {
		return err
	}
	if err := outputs.commit(c.OutOrStdout()); err != nil {
		return err
	}
	return a.summarize(c, summary)
}

// unproven is the error of a release that does not keep a promise; nil of any other.
func unproven(summary []anonymized) error {
	var broken []string
	for _, s := range summary {
		for _, check := range s.Proof.Checks {
			if !check.Passed {
				broken = append(broken, fmt.Sprintf("%s: %s: %d violations: %s", s.Table, check.Name, check.Violations, strings.Join(check.Examples, "; ")))
			}
		}
	}
	if len(broken) == 0 {
		return nil
	}
	return failure{codeUnproven, "nothing was written: report this, with the policy and the message", errors.New("what was to be released does not keep its promises, and is removed:\n" + strings.Join(broken, "\n"))}
}

// addManifests adds the manifests of files; one that goes to standard output has none.
func (a *anonymization) addManifests(w writing, summary []anonymized, outputs *files) error {
	policy, err := ksync.NewPolicy(w.policy, "")
	if err != nil {
		return err
	}
	for i, s := range summary {
		output := outputs.list[i]
		if output.Path() == tablefile.Stdout {
			continue
		}
		err := outputs.addManifest(tablefile.Manifest{
			Table: s.Table, Audience: s.Audience, File: filepath.Base(s.File), Format: w.format, Bytes: output.Size(), SHA256: s.SHA256,
			Rows: int64(s.Rows), Columns: w.rows[i].Columns, Policy: policy.Fingerprint, Constraints: w.constraints[i], Promise: w.promise, Together: w.together,
			Proof: &s.Proof, Version: build.This().Version, At: time.Now().UTC().Truncate(time.Second),
		}, s.File, a.output.force)
		if err != nil {
			return err
		}
	}
	return nil
}

// summarize says what was released: on standard output, unless the release is there.
func (a *anonymization) summarize(c *cobra.Command, summary []anonymized) error {
	out := c.OutOrStdout()
	if a.output.path == tablefile.Stdout {
		out = c.ErrOrStderr()
	}
	if a.json {
		return writeJSON(out, map[string]any{"tables": summary})
	}
	for _, s := range summary {
		if _, err := io.WriteString(out, s.text()); err != nil {
			return err
		}
	}
	return nil
}

func (s anonymized) text() string {
	text := fmt.Sprintf("%s: %d rows in %d classes of %d to %d, loss %.3f", s.File, s.Rows, s.Classes, s.Smallest, s.Largest, s.Loss)
	if s.Withheld > 0 {
		text += fmt.Sprintf("; %d of %d records are withheld", s.Withheld, s.Records)
	}
	if s.Dropped > 0 {
		text += fmt.Sprintf("; %d incomplete records of the file are left out", s.Dropped)
	}
	return text + fmt.Sprintf("; %d checks of the written file passed\n", len(s.Proof.Checks))
}
