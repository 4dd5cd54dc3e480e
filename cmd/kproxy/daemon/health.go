package daemon

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/config"
	"github.com/kproxy/kproxy/observe"
)

// What probes are told. The log and 'kproxy status' tell more.
const (
	notStarted     = "kproxy is starting: it serves once the tables are published"
	notServing     = "clients are not answered"
	isStopping     = "kproxy is stopping"
	notGuaranteed  = "the check of the guarantees fails"
	notAudited     = "the audit log cannot be written"
	notInForce     = "the policy of this process is not number %d, which is in force: see 'kproxy status'"
	notPublished   = "no protected table can be read"
	notReached     = "the database does not answer"
	databaseWanted = 2 * time.Second // for its answer
)

// Health tells whether the process lives and whether it serves.
func (d *Daemon) Health(ctx context.Context) observe.Health {
	h := observe.Health{Alive: true}
	not := func(reason string) { h.Reasons = append(h.Reasons, reason) }
	o := &d.observed
	if o.draining.Load() {
		not(isStopping)
		return h
	}
	if !d.isReady() {
		not(notStarted)
		return h
	}
	if err := d.Responds(ctx); err != nil {
		d.Logger.Warn("clients are not answered", "error", err)
		h.Alive = false
		not(notServing)
	}
	if d.unavailable.Load() != nil {
		not(notGuaranteed)
	}
	if o.audited() != nil {
		not(notAudited)
	}
	if status := d.syncer.Status(); status.Refused != "" {
		not(fmt.Sprintf(notInForce, status.InForce))
	}
	if o.published.Load() == 0 {
		not(notPublished)
	}
	if err := d.reachDatabase(ctx); err != nil {
		d.Logger.Debug("a probe finds that the database does not answer", "error", err)
		not(notReached)
	}
	h.Ready = len(h.Reasons) == 0
	return h
}

// pinger asks the database, over a connection that it keeps, whether it answers. Whoever
// may reach the probes may ask as often as they like: it is asked once in a second.
type pinger struct {
	mu    sync.Mutex
	conn  *pgconn.PgConn
	under *config.Config // that conn was made under
	asked time.Time
	err   error
}

const pingPace = time.Second

// reachDatabase returns nil where a server answers the reader.
func (d *Daemon) reachDatabase(ctx context.Context) error {
	p := &d.observed.database
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.asked) < pingPace {
		return p.err
	}
	// Who asked may hang up; what is found out is for all who ask.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), databaseWanted)
	defer cancel()
	p.err = p.ask(ctx, d)
	p.asked = time.Now()
	return p.err
}

// ask asks once more where a connection was lost since the last time.
func (p *pinger) ask(ctx context.Context, d *Daemon) error {
	c := d.effective.Load()
	if p.conn != nil {
		// A reload may have changed how the reader logs in.
		if p.under == c && p.conn.Ping(ctx) == nil {
			return nil
		}
		_ = p.conn.Close(ctx)
		p.conn = nil
	}
	p.under = c
	to, err := sessionConfig(c, c.Upstream.Reader)
	if err != nil {
		return err
	}
	to.RuntimeParams["application_name"] = "kproxy probes"
	if p.conn, err = pgconn.ConnectConfig(ctx, to); err != nil {
		p.conn = nil
		return fmt.Errorf("probing the database: %w", err)
	}
	return nil
}

func (p *pinger) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), databaseWanted)
	defer cancel()
	_ = p.conn.Close(ctx)
	p.conn = nil
}
