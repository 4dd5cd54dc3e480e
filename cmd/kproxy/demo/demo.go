// Package demo runs kproxy on a private PostgreSQL server, with a generated hospital or with the
// user's CSV file.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/daemon"
	"github.com/kproxy/kproxy/cmd/kproxy/history"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/verify"
	ksync "github.com/kproxy/kproxy/sync"
)

// The size of the hospital.
const (
	DefaultPersons  = 5_000
	DefaultPatients = 50_000
)

// Options say what is shown.
type Options struct {
	Out          io.Writer
	Err          io.Writer // for warnings
	Progress     func(ksync.Progress)
	ProgressDone func() // leaves the progress line

	Once     bool   // run the tour and return
	Guarded  bool   // publish single tables with guarded updates, whatever the policy says
	CSV      string // path; empty means the hospital
	Policy   string // path of the policy file for CSV
	Persons  int    // with their stays, diagnoses, prescriptions and labs
	Patients int
	Seed     uint64
	Listen   string // empty means defaultListen, or a free port
	BinDir   string // empty means what pgserver finds
	Verbose  bool
}

// stage is the server, the configuration and the daemon of a demonstration.
type stage struct {
	Options
	server   *pgserver.Server
	config   *config.Config
	daemon   *daemon.Daemon
	password string // the analyst's
	// consolePassword is the operator's.
	consolePassword string
}

// Run runs the demonstration until ctx ends, or once. Before it returns, it stops and removes
// everything that it started.
func Run(ctx context.Context, o Options) (err error) {
	s := &stage{Options: o}
	if s.Progress == nil {
		s.Progress, s.ProgressDone = func(ksync.Progress) {}, func() {}
	}
	source, err := s.source()
	if err != nil {
		return err
	}
	if err := s.startServer(ctx); err != nil {
		return interrupted(ctx, err)
	}
	defer func() { err = errors.Join(err, s.server.Stop()) }()
	if err := s.build(ctx, source); err != nil {
		return interrupted(ctx, err)
	}
	return interrupted(ctx, s.serve(ctx, source))
}

// interrupted turns the errors that a Ctrl-C causes into a quiet end.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (s *stage) say(format string, arguments ...any) { fmt.Fprintf(s.Out, format+"\n", arguments...) }

func (s *stage) startServer(ctx context.Context) error {
	binaries, err := pgserver.Find(ctx, s.BinDir)
	if err != nil && s.BinDir == "" {
		s.say("No PostgreSQL server binaries here; installing them.")
		binaries, err = pgserver.Install(ctx, s.Out)
	}
	if err != nil {
		return fmt.Errorf("finding a PostgreSQL server: %w", err)
	}
	s.say("Starting a private PostgreSQL %s from %s.", binaries.Version, binaries.Dir)
	s.server, err = pgserver.Start(ctx, pgserver.Options{BinDir: binaries.Dir})
	if err != nil {
		return fmt.Errorf("starting PostgreSQL: %w", err)
	}
	return nil
}

// serve runs the daemon, and meanwhile the tour or the wait for Ctrl-C.
func (s *stage) serve(ctx context.Context, source source) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	level := slog.LevelError
	if s.Verbose {
		level = slog.LevelInfo
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	s.daemon = daemon.New(s.config, daemon.Options{Logger: logger, Progress: s.Progress, Seed: s.Seed})
	started := time.Now()
	done := make(chan error, 1)
	go func() { done <- s.daemon.Run(ctx) }()
	select {
	case <-s.daemon.Ready():
	case err := <-done:
		return err
	}
	s.ProgressDone()
	if err := s.announce(ctx, time.Since(started)); err != nil {
		cancel()
		return errors.Join(err, <-done)
	}
	if s.Once {
		err := s.tour(ctx, source)
		cancel()
		return errors.Join(err, <-done)
	}
	s.banner(source)
	err := <-done
	s.say("\nStopping, and removing what was made.")
	return err
}

// announce prints what was published, of single tables with the verifier's figures.
func (s *stage) announce(ctx context.Context, took time.Duration) error {
	for _, kind := range s.config.Policy.People {
		s.announcePeople(kind)
	}
	for _, t := range s.config.Policy.Tables {
		if s.config.Policy.IsMember(t.Table) {
			continue
		}
		if reason := s.withheld(t.Table); reason != "" {
			s.sayWithheld(t.Table, reason)
			continue
		}
		report, err := s.prove(ctx, t.Table)
		if err != nil {
			return err
		}
		r := report[0]
		s.say("Published %s in %.1f s under %s: %d records in %d classes of %d to %d, DM %d, %d withheld.",
			r.Table, took.Seconds(), strings.Join(constraints(t), " and "), r.Records-r.Withheld, r.Classes, r.Smallest, r.Largest, r.Discernibility, r.Withheld)
		s.say("  %s.", following(t.Updates))
	}
	return nil
}

// prove verifies the releases of some tables, in the order of the policy. It wants all or none of
// those about the same persons.
func (s *stage) prove(ctx context.Context, tables ...catalog.Name) (verify.Report, error) {
	c := *s.config
	c.Policy = catalog.Policy{}
	for _, t := range s.config.Policy.Tables {
		if slices.Contains(tables, t.Table) {
			c.Policy.Tables = append(c.Policy.Tables, t)
		}
	}
	for _, kind := range s.config.Policy.People {
		if slices.Contains(tables, kind.Root) {
			c.Policy.People = append(c.Policy.People, kind)
		}
	}
	return history.Verify(ctx, &c, 1, nil)
}

// following says what a table's mode of updates means to its readers.
func following(u catalog.Updates) string {
	if what := u.Mode.GivesAway(); what != "" {
		return fmt.Sprintf("updates: %v. Readers see each change of the source at once; %s", u.Mode, what)
	}
	wait := u.Within.String()
	if u.Within%time.Hour == 0 {
		wait = fmt.Sprintf("%d hours", u.Within/time.Hour)
	}
	return fmt.Sprintf("updates: %v. Newcomers wait until %d or more can appear together, or for %v, and rows of the deleted stay for a while: comparing versions tells no more than one of them",
		u.Mode, u.Batch, wait)
}

func (s *stage) sayWithheld(table catalog.Name, reason string) {
	if !s.Once { // a tour ends with it
		s.say("Nothing of %s is published, since %s.", table, reason)
	}
}

// withheld is the reason why nothing of a table is published; "" where it is.
func (s *stage) withheld(table catalog.Name) string {
	return oneLine(s.daemon.Status().Tables[table].Reason)
}

func oneLine(reason string) string { return strings.ReplaceAll(reason, "\n", "; ") }

func constraints(t catalog.TablePolicy) []string {
	texts := make([]string, len(t.Constraints))
	for i, c := range t.Constraints {
		texts[i] = c.String()
	}
	return texts
}
