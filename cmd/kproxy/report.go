package main

import (
	"bytes"
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/cmd/kproxy/dossier"
	"github.com/kproxy/kproxy/cmd/kproxy/history"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/eval/report"
)

// The files of a dossier; the signature of each has signatureEnding behind its name.
const (
	dossierPage     = "dossier.html"
	dossierJSON     = "dossier.json"
	signatureEnding = ".jws"
)

// reporting holds the flags of kproxy report.
type reporting struct {
	options       dossier.Options
	out, key      string
	lastProof     bool
	asJSON, quiet bool
}

func newReport() *cobra.Command {
	var r reporting
	c := &cobra.Command{
		Use:   "report",
		Short: "Write a dossier of the release: rules, risks, proofs, limits; signed",
		Long: `Report writes a dossier of what is published, for people who assess it: dossier.html and
dossier.json in the folder --out. It says which columns are published and by which rule, what
is lost, the risk that a person is identified against a threshold, what a simulated attacker
achieves on this release, the same of what each audience sees, what the verifier proved and when, which policies and releases there were, and
what is not covered; and which clauses of standards ask for these figures. It claims no conformity.

The figures are counted on the published tables as readers see them at that moment, in one snapshot.
The verifier runs first, unless --last-proof is given. Only the owner's role is needed; 'kproxy serve'
need not run. Nothing of a row is in the dossier, but figures that readers do not get.

With --key, each file gets a signature beside it, FILE.jws: a detached JSON Web Signature
(RFC 7515, appendix F) by that private key. 'kproxy report check' checks it.

  kproxy report --out dossier
  openssl genpkey -algorithm ed25519 -out operator.pem
  openssl pkey -in operator.pem -pubout -out operator.pub
  kproxy report --out dossier --key operator.pem
  kproxy report check dossier/dossier.json --public operator.pub

Exit codes: 0 the dossier is written; 1 it is not, or a table does not keep its promises, which the
dossier then says; 2 wrong command line.`,
		Args: noArguments,
	}
	flags := c.Flags()
	flags.StringVar(&r.out, "out", "", "write the dossier into this `FOLDER`, in place of an earlier one")
	flags.StringVar(&r.key, "key", "", "sign it by the private key in this `FILE`: PEM, of openssl genpkey")
	flags.Float64Var(&r.options.Threshold, "threshold", metric.UsualThreshold, "`PROBABILITY` of identification that risks are compared with")
	flags.Uint64Var(&r.options.Seed, "seed", 1, "`SEED` by which the simulated attacker's targets are drawn")
	flags.BoolVar(&r.lastProof, "last-proof", false, "do not run the verifier: show the last proof")
	flags.BoolVar(&r.asJSON, "json", false, "write the dossier as JSON to standard output; errors too (those on standard error)")
	flags.BoolVarP(&r.quiet, "quiet", "q", false, "no progress on standard error")
	bounded := boundedConfig(c, 0, "measure for at most `LONG`")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if r.out == "" && !r.asJSON || r.out != "" && r.asJSON {
			return usageError{errors.New("give --out FOLDER, or --json")}
		}
		if r.asJSON && r.key != "" {
			return usageError{errors.New("--key signs files: give --out FOLDER")}
		}
		if err := dossier.CheckThreshold(r.options.Threshold); err != nil {
			return usageError{err}
		}
		return bounded(func(ctx context.Context, cfg *config.Config) error { return r.run(ctx, c, cfg) })
	}
	c.AddCommand(newReportCheck())
	return c
}

func (r *reporting) run(ctx context.Context, c *cobra.Command, cfg *config.Config) error {
	var key crypto.Signer
	if r.key != "" {
		text, err := os.ReadFile(r.key)
		if err == nil {
			key, err = dossier.ParseKey(text)
		}
		if err != nil {
			return failure{codeConfiguration, "openssl genpkey -algorithm ed25519 -out FILE makes one", fmt.Errorf("key %s cannot be used: %w", r.key, err)}
		}
	}
	if r.out != "" {
		if err := report.Prepare(r.out); err != nil {
			return err
		}
	}
	bar := newProgress(os.Stderr)
	defer bar.done()
	r.options.Progress = func(what string) {
		if !r.quiet {
			bar.say(what)
		}
	}
	if !r.lastProof {
		if _, err := history.Verify(ctx, cfg, verifyJobs, tellVerified(r.options.Progress)); err != nil {
			return err
		}
	}
	made, err := dossier.Gather(ctx, cfg, r.options)
	if err != nil {
		return err
	}
	bar.done()
	if r.asJSON {
		if err := made.WriteJSON(c.OutOrStdout()); err != nil {
			return err
		}
	} else if err := r.write(c.OutOrStdout(), made, key); err != nil {
		return err
	}
	for _, t := range made.Tables {
		if t.Proof != nil && !t.Proof.Passed {
			return failure{codeUnproven, "'kproxy verify' says what was found", fmt.Errorf("table %s does not keep its promises", t.Name)}
		}
	}
	return nil
}

// write writes the files, and says what it wrote.
func (r *reporting) write(out io.Writer, made *dossier.Dossier, key crypto.Signer) error {
	var files []report.File
	for _, f := range []report.File{{Name: dossierPage, Write: made.WritePage}, {Name: dossierJSON, Write: made.WriteJSON}} {
		var text bytes.Buffer
		if err := f.Write(&text); err != nil {
			return err
		}
		files = append(files, fileOf(f.Name, text.Bytes()))
		if key == nil {
			continue
		}
		signature, err := dossier.Sign(text.Bytes(), key)
		if err != nil {
			return err
		}
		files = append(files, fileOf(f.Name+signatureEnding, signature))
	}
	names, err := report.WriteFiles(r.out, files...)
	if err != nil {
		return err
	}
	if key == nil { // those of an earlier dossier are of other files
		for _, name := range []string{dossierPage, dossierJSON} {
			if err := os.Remove(filepath.Join(r.out, name+signatureEnding)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	for _, t := range made.Tables {
		fmt.Fprintln(out, t.Line(made.Threshold))
		for _, a := range t.Audiences {
			fmt.Fprintln(out, a.Line(t.Name, made.Threshold))
		}
	}
	_, err = fmt.Fprintf(out, "wrote %s into %s\n", strings.Join(names, ", "), r.out)
	return err
}

func fileOf(name string, text []byte) report.File {
	return report.File{Name: name, Write: func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}}
}
