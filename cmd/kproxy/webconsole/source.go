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
	"github.com/kproxy/kproxy/internal/state"
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

// Site returns what the console shows in every page.
func (s *source) Site() console.Site {
	c := s.config()
	site := console.Site{Database: c.Database, Version: build.This().Version, Process: processes.Name()}
	for _, t := range c.Policy.Tables {
		site.Tables = append(site.Tables, t.Table.String())
	}
	return site
}

// pageTimeout bounds the time to read a page's contents.
const pageTimeout = 60 * time.Second

// Overview reads the same as 'kproxy status', and the last figures.
func (s *source) Overview(ctx context.Context) (console.Overview, error) {
	own := s.process.Conditions()
	o, err := s.overview.get(ctx, own, func(ctx context.Context) (console.Overview, error) {
		ctx, cancel := context.WithTimeout(ctx, pageTimeout)
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
	// Pages of tables may have been read since the overview was.
	o.Tables = s.withMeasured(o.Tables)
	return o, err
}

// withoutStore returns the overview while the private store cannot be read: what this process knows
// by itself, without figures.
func (s *source) withoutStore(c *config.Config, err error) console.Overview {
	counts := s.process.Clients()
	o := console.Overview{
		At:        time.Now(),
		Needs:     []state.Need{{What: "What is published cannot be read: " + err.Error(), Fix: "see whether the database runs, and what 'kproxy check' says"}},
		Processes: []console.Process{{Name: processes.Name(), Sessions: counts.Sessions, Connections: counts.Connections}},
	}
	for _, t := range c.Policy.Tables {
		o.Tables = append(o.Tables, releaseOf(t, state.Table{
			Name: t.Table.String(), State: state.Unknown, Updates: t.Updates.Mode.String(), GivesAway: t.Updates.Mode.GivesAway(),
		}))
	}
	return o
}

func (s *source) overviewOf(c *config.Config, stored status.Status) console.Overview {
	o := console.Overview{At: stored.At, Silent: stored.Silent, Needs: stored.Needs}
	for i, t := range stored.Tables {
		o.Tables = append(o.Tables, releaseOf(c.Policy.Tables[i], t.Table))
	}
	for _, v := range stored.Views {
		o.Views = append(o.Views, v.View)
	}
	for _, p := range stored.Clients {
		o.Processes = append(o.Processes, console.Process{Name: p.Process, Sessions: p.Sessions, Connections: p.Connections})
	}
	status, r := s.process.Replication(), stored.Replication
	o.Replication = &console.Replication{
		Replication: r, State: status.State.String(), Alarm: c.Replication.Alarm.Retained,
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

// releaseOf adds to a table what the console shows of its policy.
func releaseOf(policy catalog.TablePolicy, t state.Table) console.Release {
	return console.Release{Table: t, Method: policy.Method, Constraints: constraintTexts(policy)}
}

// constraintTexts returns the constraints in the notation of the literature.
func constraintTexts(policy catalog.TablePolicy) []string {
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

// addRecorded adds the checks of the last proofs, and the last losses.
func (s *source) addRecorded(ctx context.Context, c *config.Config, stored status.Status, o *console.Overview) error {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for i, t := range c.Policy.Tables {
		if p, known := stored.Proofs[t.Table]; known {
			o.Tables[i].Proof = p.State(stored.Tables[i].Shown)
		}
		losses, err := history.LossHistory(ctx, conn, t.Table)
		if err != nil {
			return err
		}
		if len(losses) > 0 {
			last := losses[len(losses)-1]
			o.Tables[i].Loss, o.Tables[i].LossAt = &last.Loss, &last.At
		}
	}
	return nil
}

// withMeasured returns the tables, each with the loss that its page has measured if that is later
// than the recorded one, so that two pages show the same loss of a table.
func (s *source) withMeasured(tables []console.Release) []console.Release {
	tables = slices.Clone(tables) // the overview is remembered as it was found out
	for i := range tables {
		t := &tables[i]
		s.mutex.Lock()
		page := s.tables[t.Name]
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
