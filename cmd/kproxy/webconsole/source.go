package webconsole

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/build"
	"github.com/kproxy/kproxy/cmd/kproxy/history"
	"github.com/kproxy/kproxy/cmd/kproxy/processes"
	"github.com/kproxy/kproxy/cmd/kproxy/status"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/console"
	ksync "github.com/kproxy/kproxy/sync"
)

// source is the console.Source of a process.
type source struct {
	process  Process
	overview memo[console.Overview]

	mutex  sync.Mutex
	tables map[string]*memo[console.Table]
}

var _ console.Source = (*source)(nil)

func newSource(p Process) *source {
	return &source{process: p, tables: make(map[string]*memo[console.Table])}
}

// Settings implements console.Source.
func (s *source) Settings() []console.Section { return listSettings(s.config()) }

func (s *source) config() *config.Config { return s.process.Config() }

// Site names what is watched.
func (s *source) Site() console.Site {
	c := s.config()
	site := console.Site{Database: c.Database, Version: build.This().Version, Process: processes.Name()}
	for _, t := range c.Policy.Tables {
		site.Tables = append(site.Tables, t.Table.String())
	}
	return site
}

// consolePatience bounds what a page waits for.
const consolePatience = 60 * time.Second

// Overview reads what `kproxy status` does, and the last figures.
func (s *source) Overview(ctx context.Context) (console.Overview, error) {
	own := s.process.Conditions()
	o, err := s.overview.get(ctx, own, func(ctx context.Context) (console.Overview, error) {
		ctx, cancel := context.WithTimeout(ctx, consolePatience)
		defer cancel()
		c := s.config()
		stored, err := status.ReadFor(ctx, c, own)
		if err != nil {
			if ctx.Err() != nil {
				return console.Overview{}, ctx.Err()
			}
			return s.withoutStore(c, err), nil
		}
		o := s.overviewOf(c, stored)
		return o, s.addRecorded(ctx, c, stored, &o)
	})
	// Pages of tables may be looked at while the overview rests.
	o.Tables = s.withMeasured(o.Tables)
	return o, err
}

// withoutStore is the overview while the private store cannot be read: what this process
// knows by itself, and nothing that would look like a figure.
func (s *source) withoutStore(c *config.Config, err error) console.Overview {
	counts := s.process.Clients()
	o := console.Overview{
		At:        time.Now(),
		Needs:     []console.Need{{What: "What is published cannot be read: " + err.Error(), Fix: "see whether the database runs, and what 'kproxy check' says"}},
		Processes: []console.Process{{Name: processes.Name(), Sessions: counts.Sessions, Connections: counts.Connections}},
	}
	for _, t := range c.Policy.Tables {
		o.Tables = append(o.Tables, console.Release{
			Table: t.Table.String(), State: status.StateUnknown,
			Method: t.Method, Updates: t.Updates.Mode.String(), GivesAway: t.Updates.Mode.GivesAway(), Constraints: constraintsInWords(t),
		})
	}
	return o
}

func (s *source) overviewOf(c *config.Config, stored status.Status) console.Overview {
	o := console.Overview{At: stored.At, Silent: stored.Silent}
	for _, n := range stored.Needs {
		o.Needs = append(o.Needs, console.Need{What: n.What, Fix: n.Fix})
	}
	for i, t := range stored.Tables {
		o.Tables = append(o.Tables, releaseOf(c.Policy.Tables[i], t))
	}
	for _, v := range stored.Views {
		o.Views = append(o.Views, console.View{Name: v.View, State: v.State, Problem: v.Problem})
	}
	for _, p := range stored.Clients {
		o.Processes = append(o.Processes, console.Process{Name: p.Process, Sessions: p.Sessions, Connections: p.Connections})
	}
	status, r := s.process.Replication(), stored.Replication
	o.Replication = &console.Replication{
		State: status.State.String(), Slot: r.Slot, Position: r.Position, Since: r.Since, Behind: r.Behind,
		Exists: r.Exists, Active: r.Active, Retained: r.Retained, Alarm: c.Replication.Alarm.Retained, WALStatus: r.WALStatus, Safe: r.Safe,
	}
	if status.State != ksync.Following { // who follows measures nothing
		o.Replication.Lag = &status.Slot.Behind
	}
	switch {
	case status.State == ksync.Streaming:
		o.Replication.Applier = "this process"
	case r.Applier != nil && r.Applier.Address != "":
		o.Replication.Applier = r.Applier.Address
	case r.Applier != nil:
		o.Replication.Applier = "another process"
	}
	return o
}

// releaseOf is a table's release in the console's terms.
func releaseOf(policy catalog.TablePolicy, t status.Table) console.Release {
	return console.Release{
		Table: t.Table, State: t.State, Problem: t.Problem, Fix: t.Fix, Asked: t.Asked,
		Method: policy.Method, Updates: t.Updates, GivesAway: t.GivesAway, Constraints: constraintsInWords(policy),
		Figures: &console.Figures{
			Generation: t.Generation, Records: t.Records, Rows: t.Rows, Classes: t.Classes, Withheld: t.Withheld,
			Waiting: t.Waiting, OldestWaiting: t.OldestWaiting, Stale: t.Stale, OldestStale: t.OldestStale,
			Ghosts: t.Ghosts, Returned: t.Returned, Expired: t.Expired,
		},
	}
}

// constraintsInWords are the constraints in the field's notation.
func constraintsInWords(policy catalog.TablePolicy) []string {
	words := make([]string, 0, len(policy.Constraints))
	for _, c := range policy.Constraints {
		text := c.String()
		if policy.Subject != "" {
			text += ", counted in persons (" + policy.Subject + ")"
		}
		words = append(words, text)
	}
	return words
}

// addRecorded adds the last proofs and losses.
func (s *source) addRecorded(ctx context.Context, c *config.Config, stored status.Status, o *console.Overview) error {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	proofs, err := history.LastProofs(ctx, conn)
	if err != nil {
		return err
	}
	for i, t := range c.Policy.Tables {
		if i >= len(o.Tables) {
			break
		}
		if p, known := proofs[t.Table]; known {
			o.Tables[i].Proof = proofOf(p, stored.Tables[i].Shown)
		}
		history, err := history.LossHistory(ctx, conn, t.Table)
		if err != nil {
			return err
		}
		if len(history) > 0 {
			last := history[len(history)-1]
			o.Tables[i].Loss, o.Tables[i].LossAt = &last.Loss, &last.At
		}
	}
	return nil
}

// withMeasured are the tables, each with the loss that its page has measured where that is
// later than what was recorded: what two pages show of a table is the same, or says of when
// it is.
func (s *source) withMeasured(tables []console.Release) []console.Release {
	tables = slices.Clone(tables) // the overview is remembered as it was found out
	for i := range tables {
		t := &tables[i]
		s.mutex.Lock()
		page := s.tables[t.Table]
		s.mutex.Unlock()
		if page == nil {
			continue
		}
		if known, _ := page.peek(); known.Loss != nil && (t.LossAt == nil || known.At.After(*t.LossAt)) {
			t.Loss, t.LossAt = known.Loss, &known.At
		}
	}
	return tables
}

// proofOf is a proof in the console's terms, beside the generation that readers see.
func proofOf(p history.Proof, shown int64) *console.Proof {
	proof := console.Proof{At: p.At, Generation: p.Report.Generation, Earlier: p.Report.Generation != shown, Passed: p.Passed}
	for _, c := range p.Report.Checks {
		proof.Checks = append(proof.Checks, console.Check{Name: c.Name, Passed: c.Passed, Violations: c.Violations, Examples: c.Examples})
	}
	return &proof
}
