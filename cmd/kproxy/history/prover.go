package history

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/observe"
	"github.com/kproxy/kproxy/internal/verify"
	ksync "github.com/kproxy/kproxy/sync"
)

// Proofs are the last proofs of all processes, for metrics. All methods can be called from any
// goroutine.
type Proofs struct {
	last  atomic.Pointer[map[catalog.Name]Proof] // nil before they were read first
	taken atomic.Int64                           // nanoseconds that the last proof of this process took
}

// Read reads them from the private store.
func (r *Proofs) Read(ctx context.Context, c *config.Config) error {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	proofs, err := LastProofs(ctx, conn)
	if err != nil {
		return err
	}
	r.last.Store(&proofs)
	return nil
}

// Of returns the last proof of a table, nil for none.
func (r *Proofs) Of(table catalog.Name) *observe.Proof {
	known := r.last.Load()
	if known == nil {
		return nil
	}
	p, proved := (*known)[table]
	if !proved {
		return nil
	}
	proof := observe.Proof{Generation: p.Report.Generation, At: p.At, Passed: p.Passed, Smallest: p.Report.Smallest, Audiences: make(map[string]int64)}
	for _, a := range p.Report.Audiences {
		if a.Unseen {
			continue
		}
		proof.Audiences[a.Audience] = a.Smallest
	}
	return &proof
}

// Interval returns the actual interval between proofs that are due at an interval: longer if a proof
// and the rest after it take longer. 0 is never.
func (r *Proofs) Interval(every time.Duration) time.Duration {
	if every == 0 {
		return 0
	}
	return max(every, (1+proveRest)*time.Duration(r.taken.Load()))
}

const (
	// proveInterval is how often Prove checks whether a proof is due.
	proveInterval = 5 * time.Second
	// proveRest bounds the cost of proofs: the rest between proofs takes this many times as long as
	// the last one.
	proveRest = 10
)

// Prove proves the releases as often as the configuration says while the process applies
// changes, until ctx ends. It keeps the results in the private store and in r.
func (r *Proofs) Prove(ctx context.Context, p Process) {
	var rested time.Time // until when it rests
	failed := ""         // logged last
	for {
		select {
		case <-time.After(proveInterval):
		case <-ctx.Done():
			return
		}
		c, status := p.Config(), p.Replication()
		if c.Verify.Every == 0 || time.Now().Before(rested) || status.State != ksync.Streaming {
			continue
		}
		// A withdrawn table cannot be proved, and must not prevent the proofs of others.
		began := time.Now()
		due, err := someProofIsDue(ctx, c, status, p.Published)
		if err != nil && ctx.Err() == nil && err.Error() != failed {
			p.Logger.Error("whether a proof is due cannot be found out", "error", err)
		}
		if failed = ""; err != nil {
			failed = err.Error()
		}
		if err != nil || !due {
			rested = time.Now().Add(time.Second + proveRest*time.Since(began))
			continue
		}
		if err := p.prove(ctx, c); err != nil && ctx.Err() == nil {
			p.Logger.Error("the releases could not be proved", "error", err)
			rested = time.Now().Add(c.Verify.Every)
			continue
		}
		r.taken.Store(int64(time.Since(began)))
		_ = r.Read(ctx, c) // which is tried again every minute
		rested = time.Now().Add(proveRest * time.Since(began))
	}
}

// someProofIsDue reports whether the proof of a table that readers can read is due, by the server's
// clock, which all processes share.
func someProofIsDue(ctx context.Context, c *config.Config, status ksync.Status, shown func(catalog.Name) bool) (due bool, err error) {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	proofs, err := LastProofs(ctx, conn)
	if err != nil {
		return false, err
	}
	var now time.Time
	if err := conn.QueryRow(ctx, "SELECT now()").Scan(&now); err != nil {
		return false, err
	}
	return slices.ContainsFunc(c.Policy.Tables, func(t catalog.TablePolicy) bool {
		return shown(t.Table) && proofs[t.Table].isDue(now, status.Tables[t.Table], c.Verify.Every)
	}), nil
}

// isDue reports whether a proof is due: the last one is too old, or of an earlier release. While a
// new release is being made, the generation is already that of the new one.
func (p Proof) isDue(now time.Time, t ksync.TableStatus, every time.Duration) bool {
	return now.Sub(p.At) >= every || !t.Preparing && p.Report.Generation != t.Generation
}

func (p Process) prove(ctx context.Context, c *config.Config) error {
	report, err := verifyTables(ctx, c, p.Published, verify.Options{})
	if err != nil {
		return err
	}
	for _, t := range report {
		if t.Passed() || t.Generation == 0 {
			continue
		}
		for _, check := range t.Checks {
			if !check.Passed {
				p.Logger.Error("a release does not keep its promise", "relation", t.Table, "check", check.Name, "violations", check.Violations)
			}
		}
	}
	return recordProofs(ctx, c, report)
}
