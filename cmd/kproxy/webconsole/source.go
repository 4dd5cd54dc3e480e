package webconsole

import (
	"context"
	"sync"
	"sync/atomic"
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
	process   Process
	overview  memo[console.Overview]
	lastNeeds atomic.Int64 // how many things needed the operator when that was read last

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
	conditions := s.process.Conditions()
	for _, t := range c.Policy.Tables {
		site.Tables = append(site.Tables, console.Listed{Name: t.Table.String(), State: conditions[t.Table].State})
	}
	site.Refused, site.Needs = s.process.Refusal() != nil, int(s.lastNeeds.Load())
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
			return s.withoutStore(c, own, err), nil
		}
		o := s.overviewOf(c, stored)
		return o, s.addRecorded(ctx, c, stored, &o)
	})
	if err == nil {
		s.lastNeeds.Store(int64(len(o.Needs)))
	}
	return o, err
}

// withoutStore returns the overview while the private store cannot be read: what this process knows
// by itself, and the figures that it has read last.
func (s *source) withoutStore(c *config.Config, own map[catalog.Name]status.Condition, err error) console.Overview {
	counts := s.process.Clients()
	o := console.Overview{
		At:        time.Now(),
		Audiences: audiencesOf(c),
		Refused:   s.process.Refusal(),
		Processes: []console.Process{{Name: processes.Name(), Sessions: counts.Sessions, Connections: counts.Connections}},
	}
	if r := o.Refused; r != nil {
		o.Needs = append(o.Needs, state.Need{What: "Readers are refused: " + r.Why, Fix: r.Fix})
	}
	o.Needs = append(o.Needs, state.Need{What: "What is published cannot be read: " + err.Error(), Fix: "see whether the database runs and lets the owner in, and what 'kproxy check' says"})
	last, _ := s.overview.last()
	for _, t := range c.Policy.Tables {
		r := unknownRelease(c, t, own[t.Table])
		for _, before := range last.Tables {
			if before.Name == r.Name {
				r.Figures, r.FiguresAt, r.Proof, r.Loss, r.LossAt = before.Figures, before.FiguresAt, before.Proof, before.Loss, before.LossAt
			}
		}
		o.Tables = append(o.Tables, r)
	}
	return o
}

// unknownRelease is a table of which only this process's own condition is known.
func unknownRelease(c *config.Config, policy catalog.TablePolicy, own status.Condition) console.Release {
	t := state.Table{Name: policy.Table.String(), State: state.Unknown, Updates: policy.Updates.Mode.String(), GivesAway: policy.Updates.Mode.GivesAway()}
	own.Tell(&t)
	return releaseOf(c, policy, t)
}

func (s *source) overviewOf(c *config.Config, stored status.Status) console.Overview {
	o := console.Overview{At: stored.At, Audiences: audiencesOf(c), Silent: stored.Silent, Needs: stored.Needs, Refused: stored.Refused}
	for i, t := range stored.Tables {
		o.Tables = append(o.Tables, keptRelease(c, c.Policy.Tables[i], t))
	}
	for _, v := range stored.Views {
		o.Views = append(o.Views, v.View)
	}
	for _, p := range stored.Clients {
		o.Processes = append(o.Processes, console.Process{Name: p.Process, Sessions: p.Sessions, Connections: p.Connections, Kept: p.Answers.Answers, Hits: p.Answers.Hits})
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

// keptRelease is releaseOf with the figures that are kept of the table, without any where none are.
func keptRelease(c *config.Config, policy catalog.TablePolicy, t status.Table) console.Release {
	r := releaseOf(c, policy, t.Table)
	switch {
	case t.Kept != nil:
		r.FiguresAt = &t.Kept.At
		if t.Kept.Losses != nil {
			r.Loss, r.LossAt = &t.Kept.Losses.Whole, &t.Kept.At
		}
		measureSeen(r.Audiences, t.Kept.Audiences)
	case t.Generation != 0:
		r.Figures = nil // it has not been counted yet
	}
	return r
}

// releaseOf adds to a table what the console shows of its policy.
func releaseOf(c *config.Config, policy catalog.TablePolicy, t state.Table) console.Release {
	return console.Release{Table: t, Method: policy.Method, Constraints: constraintTexts(c.Policy, policy), Audiences: seenOf(c, policy, t)}
}

// constraintTexts returns the constraints in the notation of the literature.
func constraintTexts(whole catalog.Policy, policy catalog.TablePolicy) []string {
	constraints := whole.Released(policy).Constraints
	words := make([]string, 0, len(constraints))
	for _, c := range constraints {
		text := c.String()
		switch {
		case policy.Subject != "":
			text += ", counted in persons (" + policy.Subject + ")"
		case whole.IsMember(policy.Table):
			text += ", counted in persons"
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
	losses, err := history.LastLosses(ctx, conn)
	if err != nil {
		return err
	}
	for i, t := range c.Policy.Tables {
		if p, known := stored.Proofs[t.Table]; known {
			o.Tables[i].Proof = p.State(stored.Tables[i].Shown)
		}
		if last, known := losses[t.Table]; known && o.Tables[i].Loss == nil {
			o.Tables[i].Loss, o.Tables[i].LossAt = &last.Loss, &last.At
		}
	}
	return nil
}
