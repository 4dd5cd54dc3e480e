package attack

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/internal/eval/report"
)

// KindCoalitions is what readers of several releases of tables about the same persons learn who pool them.
type KindCoalitions struct {
	Setup KindSetup       `json:"setup"`
	Runs  []KindCoalition `json:"runs"`
}

// KindCoalition is what some readers learn, and what is allowed: what one static release tells, of the k of the finest that
// they have and with all columns that they see.
type KindCoalition struct {
	Known    string `json:"known"`    // "one row" or "all rows"
	Updates  string `json:"updates"`  // "immediate" or "guarded"
	Releases string `json:"releases"` // "nested" or "apart"
	Read     string `json:"read"`     // "last" version or "all" of them
	Versions int    `json:"versions"`
	Readers  []int  `json:"readers"` // the k of each release that they have
	// Identity is which person a target is, Value the ward of a visit, and Column what the last audience alone sees of it; nil where
	// these readers do not. InFinest is what the finest of their releases would tell of that column, in the same versions.
	Identity        KindIdentity `json:"identity"`
	AllowedIdentity KindIdentity `json:"allowed_identity"`
	Value           KindGuess    `json:"value"`
	AllowedValue    KindGuess    `json:"allowed_value"`
	Column          *KindGuess   `json:"column,omitempty"`
	InFinest        *KindGuess   `json:"column_in_finest,omitempty"`
	AllowedColumn   *KindGuess   `json:"allowed_column,omitempty"`
}

// KindIdentity is how many persons are left to whoever knows something of one.
type KindIdentity struct {
	Targets    int     `json:"targets"`
	Candidates float64 `json:"candidates"` // mean
	Fewest     int     `json:"fewest"`
	Risk       float64 `json:"risk"`  // mean of 1/candidates
	Fewer      float64 `json:"fewer"` // the share of targets with less than k
}

// KindGuess is how often a value is guessed. Shares are of the targets, 0 to 1.
type KindGuess struct {
	Targets   int     `json:"targets"`
	Right     float64 `json:"right"`
	Posterior float64 `json:"posterior"` // given to the true value, on average
	Certain   float64 `json:"certain"`
}

// What readers keep.
const (
	lastVersion = "last"
	allVersions = "all"
)

// RunKindCoalitions makes the experiment. The error is the context's, or Validate's.
func RunKindCoalitions(ctx context.Context, s KindSetup) (*KindCoalitions, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	outcome, w := &KindCoalitions{Setup: s}, newKindWorld(s)
	for _, all := range []bool{false, true} {
		statics, err := w.statics(ctx, all)
		if err != nil {
			return nil, fmt.Errorf("publishing once: %w", err)
		}
		for _, guarded := range []bool{false, true} {
			for _, unions := range []bool{true, false} {
				as := KindCoalition{Known: nameOf(all, "all rows", "one row"), Updates: nameOf(guarded, "guarded", "immediate"), Releases: nameOf(unions, nestedReleases, apartReleases)}
				s.report("%s known: publishing, %s, %s", as.Known, as.Updates, as.Releases)
				releases, versions, err := w.release(ctx, all, guarded, unions)
				if err != nil {
					return nil, fmt.Errorf("publishing, %s, %s: %w", as.Updates, as.Releases, err)
				}
				as.Versions = versions
				s.report("%s known: attacking, %s, %s", as.Known, as.Updates, as.Releases)
				outcome.Runs = append(outcome.Runs, attackKind(as, all, releases, statics)...)
			}
		}
	}
	return outcome, ctx.Err()
}

func nameOf(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// release publishes for all audiences in one way.
func (w *kindWorld) release(ctx context.Context, all, guarded, unions bool) (releases []*kindRelease, versions int, err error) {
	shows, last := newKindShows(w, guarded && unions), 0
	if !unions {
		last = len(w.setup.K) - 1
	}
	var publishers []kindPublisher
	for audience := 0; audience <= last; audience++ {
		if guarded {
			p, err := newGuardedKind(w, shows, all, audience, unions)
			if err != nil {
				return nil, 0, err
			}
			publishers, releases = append(publishers, p), append(releases, p.releases...)
			continue
		}
		p, err := newImmediateKind(w, shows, all, audience, unions)
		if err != nil {
			return nil, 0, err
		}
		publishers, releases = append(publishers, p), append(releases, p.releases...)
	}
	versions, err = w.play(ctx, publishers)
	return releases, versions, err
}

// statics are, for each audience, one release of all that there ever was.
func (w *kindWorld) statics(ctx context.Context, all bool) (releases []*kindRelease, err error) {
	for audience := range w.setup.K {
		p, err := newImmediateKind(w, newKindShows(w, false), all, audience, false)
		if err != nil {
			return nil, err
		}
		for person := range w.persons {
			if err := p.apply(kindChange{table: people.Root, row: person, what: inserts}, 0); err != nil {
				return nil, err
			}
		}
		for table, rows := range w.rows {
			for row, of := range rows {
				if err := p.apply(kindChange{table: table, row: row, what: inserts, state: len(of.states) - 1}, 0); err != nil {
					return nil, err
				}
			}
		}
		if err := p.publish(ctx, 0, 0); err != nil {
			return nil, err
		}
		releases = append(releases, p.releases[0])
	}
	return releases, nil
}

// attackKind has the readers of each set of releases attack, or of all where these are made apart.
func attackKind(as KindCoalition, all bool, releases, statics []*kindRelease) (runs []KindCoalition) {
	for _, as.Read = range []string{lastVersion, allVersions} {
		read, allowed := releases, statics
		if as.Read == lastVersion { // which is a static release
			read = make([]*kindRelease, len(releases))
			for i, r := range releases {
				read[i] = r.last()
			}
			allowed = read
		}
		for set := 1; set < 1<<len(read); set++ {
			if as.Releases == apartReleases && set != 1<<len(read)-1 {
				continue
			}
			var members []*kindRelease
			run, finest := as, -1
			for i, r := range read {
				if set>>i&1 == 0 {
					continue
				}
				if members, run.Readers = append(members, r), append(run.Readers, r.k); finest < 0 {
					finest = i
				}
			}
			run.attack(all, members, allowed[finest], set>>(len(read)-1) == 1)
			runs = append(runs, run)
		}
	}
	return runs
}

// attack has the readers of some releases infer what they can, and those of the static release that is allowed.
func (c *KindCoalition) attack(all bool, members []*kindRelease, allowed *kindRelease, column bool) {
	c.Identity = newKindReaders(all, members).identify()
	c.AllowedIdentity = newKindReaders(all, []*kindRelease{allowed}).identify()
	var published []*history
	for _, r := range members {
		published = append(published, r.published(wardOf))
	}
	c.Value = members[0].guessed(c.Read, wardOf, newKindKnowing(published...).guess)
	c.AllowedValue = allowed.guessed(c.Read, wardOf, newKindKnowing(allowed.published(wardOf)).guess)
	if !column {
		return
	}
	guess := newKindKnowing(members[len(members)-1].published(furtherOf)).guess
	if len(members) > 1 {
		guess = newKindJoined(members[0], members[len(members)-1]).guess
	}
	own := members[0].guessed(c.Read, furtherOf, guess)
	finest := members[0].guessed(c.Read, furtherOf, newKindKnowing(members[0].published(furtherOf)).guess)
	bound := allowed.guessed(c.Read, furtherOf, newKindKnowing(allowed.published(furtherOf)).guess)
	c.Column, c.InFinest, c.AllowedColumn = &own, &finest, &bound
}

const aboutKindCoalitions = `Readers know the root row and one row of a person, or all rows, the moments at which rows came,
changed and left, and in which cell of each release the known rows are. They keep all versions, or
have the last ones. Allowed is what one static release of the finest k that they have tells: the
last version, or a release of all that there ever was. Candidates: persons who cannot be told from
the target, on average; fewest; and the share of targets with fewer than k. Ward: right guesses of a
visit's. Column: of one that the last audience alone sees, and what the finest of their releases would
tell if it had it. Releases are nested (unions of the finer
ones) or, as the control, made apart from each other.

`

// WriteText writes the figures for a terminal.
func (o *KindCoalitions) WriteText(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "k = %d, %d persons with %g visits each in %d days. Seed %d.\n%s", o.Setup.K, o.Setup.Persons, o.Setup.Rate, o.Setup.Days, o.Setup.Seed, aboutKindCoalitions); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	rows := [][]string{{"known", "updates", "releases", "versions", "readers", "candidates", "allowed", "fewest", "fewer %", "ward %", "allowed", "certain %", "column %", "in finest", "allowed"}}
	for _, r := range o.Runs {
		var readers []string
		for _, k := range r.Readers {
			readers = append(readers, strconv.Itoa(k))
		}
		versions, column, finest, bound := "last", "", "", ""
		if r.Read == allVersions {
			versions = "all " + strconv.Itoa(r.Versions)
		}
		if r.Column != nil {
			column, finest, bound = percent(r.Column.Right), percent(r.InFinest.Right), percent(r.AllowedColumn.Right)
		}
		rows = append(rows, []string{
			r.Known, r.Updates, r.Releases, versions, "k = " + strings.Join(readers, " and "),
			fmt.Sprintf("%.1f", r.Identity.Candidates), fmt.Sprintf("%.1f", r.AllowedIdentity.Candidates), strconv.Itoa(r.Identity.Fewest), percent(r.Identity.Fewer),
			percent(r.Value.Right), percent(r.AllowedValue.Right), percent(r.Value.Certain), column, finest, bound,
		})
	}
	return report.Table{Rows: rows}.WriteText(w)
}

// WriteJSON writes all figures.
func (o *KindCoalitions) WriteJSON(w io.Writer) error { return report.WriteJSON(w, o) }
