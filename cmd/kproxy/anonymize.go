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
tables are released together, with pseudonyms in place of keys. An audience gets those that it sees:
of visits, partners get visits.partners.csv.

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
	flags.StringVar(&a.policy, "policy", "", "policy `FILE` with the sections csv and tables, and maybe people and audiences")
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
	w := writing{format: format, policy: policy.Policy()}
	for i, one := range all {
		w.files = append(w.files, releasedFile{path: paths[i], rows: one.Rows, figures: one.Figures, constraints: shownConstraints(policy.Table, one.Audience)})
		for _, c := range policy.Table.ConstraintsFor(one.Audience) {
			if f := &w.files[i]; !slices.Contains(f.constraints, c.String()) {
				f.untold = append(f.untold, c.String())
			}
		}
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
	outputs := a.peoplePaths(policy, format)
	if err := a.output.checkFree(slices.Concat(outputs...)); err != nil {
		return err
	}
	files, err := dataset.ReadTablesWatched(c.Context(), paths, policy.CSV, func(records int) { a.say("reading: %d records", records) })
	if err != nil {
		return err
	}
	all, warnings, err := a.ofPeople(c.Context(), files, policy)
	if err != nil {
		return inapplicable(err)
	}
	a.warn(c, warnings)
	w := writing{format: format, policy: policy.Policy()}
	for i, made := range all {
		w.files = append(w.files, releasedTables(made, outputs[i])...)
	}
	w.prove = func(ctx context.Context, paths []string, told func(int)) (proofs [][]verify.Check, err error) {
		for i, made := range all {
			n := len(made.Tables)
			checks, err := made.Prove(ctx, format, paths[i*n:(i+1)*n], told)
			if err != nil {
				return nil, err
			}
			proofs = append(proofs, checks...)
		}
		return proofs, nil
	}
	return a.write(c, w)
}

// ofPeople makes the release for the tables' own readers, and one for each audience.
func (a *anonymization) ofPeople(ctx context.Context, files map[catalog.Name]*dataset.File, policy *config.PolicyFile) ([]*release.People, []string, error) {
	if len(policy.Audiences) > 0 {
		return release.OfPeopleFor(ctx, files, policy, a.options())
	}
	made, warnings, err := release.OfPeople(ctx, files, policy, a.options())
	return []*release.People{made}, warnings, err
}

// peoplePaths are the paths of the tables of each release, that for their own readers first.
func (a *anonymization) peoplePaths(policy *config.PolicyFile, format tablefile.Format) [][]string {
	own := a.output.inFolder(policy.People[0].Names(), format)
	all := [][]string{own}
	for _, audience := range policy.Audiences {
		var paths []string
		for _, path := range own {
			paths = append(paths, audiencePath(path, audience.Name))
		}
		all = append(all, paths)
	}
	return all
}

// releasedTables are the tables of a release, of which each names those that its readers see.
func releasedTables(made *release.People, paths []string) []releasedFile {
	var constraints, untold, together []string
	for _, c := range made.Kind.Constraints {
		if table, column, named := catalog.ParseQualifiedColumn(c.Of); !named || shows(made, table, column) {
			constraints = append(constraints, c.String())
		} else {
			untold = append(untold, c.String())
		}
	}
	for _, rows := range made.Tables {
		if rows.Publication.IsSeen() {
			together = append(together, rows.Publication.Policy.Table.String())
		}
	}
	all := make([]releasedFile, len(made.Tables))
	for i, rows := range made.Tables {
		all[i] = releasedFile{
			path: paths[i], rows: rows, figures: made.Figures[i], constraints: constraints, untold: untold,
			promise: rows.Publication.Membership.Explain(), together: together, unseen: !rows.Publication.IsSeen(),
		}
	}
	return all
}

// shows reports whether the readers of a release see a column.
func shows(made *release.People, table catalog.Name, column string) bool {
	return slices.ContainsFunc(made.Tables, func(r *release.Rows) bool {
		_, shown := r.Publication.Policy.Shown().Column(column)
		return shown && r.Publication.Policy.Table == table && r.Publication.IsSeen()
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

// writing is a release that is to be written, or several, file by file.
type writing struct {
	format tablefile.Format
	policy catalog.Policy
	files  []releasedFile
	prove  func(ctx context.Context, paths []string, told func(rows int)) ([][]verify.Check, error)
}

// releasedFile is what readers get of a table.
type releasedFile struct {
	path        string
	rows        *release.Rows
	figures     release.Figures
	constraints []string
	promise     string
	together    []string
	untold      []string // constraints that hold on columns that its readers do not see
	unseen      bool     // the audience does not see the table: it is proved with the others, and removed
}

// toldProof is the proof without checks of constraints on columns that readers of the file do not see.
func (f releasedFile) toldProof(proof tablefile.Proof) *tablefile.Proof {
	proof.Checks = slices.DeleteFunc(slices.Clone(proof.Checks), func(c verify.Check) bool {
		return slices.ContainsFunc(f.untold, func(constraint string) bool { return strings.HasPrefix(c.Name, constraint) })
	})
	return &proof
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
	for _, f := range w.files {
		output, err := outputs.create(f.path, a.output.force, !f.unseen)
		if err != nil {
			return err
		}
		parts = append(parts, output.Name())
		told := func(n int) { a.say("%s writing %s", gauge(n, f.rows.Len()), f.figures.Table) }
		if err := f.rows.Write(c.Context(), w.format, output, told); err != nil {
			return fmt.Errorf("writing %s: %w", f.path, err)
		}
	}
	proofs, err := w.prove(c.Context(), parts, func(n int) { a.say("verifying what was written: %d rows", n) })
	if err != nil {
		return err
	}
	a.bar.done()
	all, seen := make([]anonymized, len(w.files)), []releasedFile(nil)
	var summary []anonymized
	for i, f := range w.files {
		all[i] = anonymized{Figures: f.figures, File: f.path, Proof: tablefile.Proof{Passed: !slices.ContainsFunc(proofs[i], func(c verify.Check) bool { return !c.Passed }), Checks: proofs[i]}}
		if !f.unseen {
			all[i].SHA256 = outputs.list[len(seen)].Digest()
			seen, summary = append(seen, f), append(summary, all[i])
		}
	}
	if err := unproven(all); err != nil {
		return err
	}
	w.files = seen
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
			Rows: int64(s.Rows), Columns: w.files[i].rows.Columns, Policy: policy.Fingerprint, Constraints: w.files[i].constraints, Promise: w.files[i].promise, Together: w.files[i].together,
			Proof: w.files[i].toldProof(s.Proof), Version: build.This().Version, At: time.Now().UTC().Truncate(time.Second),
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
