package views

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
)

// viewTimeout bounds one look.
const viewTimeout = 10 * time.Second

// Look is one look at the views over protected tables: what it rests on, and what came of
// it. It belongs to one goroutine at a time.
type Look struct {
	config    *config.Config
	rewritten rewritings
	// definitions are those that the last look has read, and then those of this one.
	definitions *definitions
	conn        *pgx.Conn      // nil before it is needed, and where it is lost
	known       []catalog.View // to readers
	// follows says that another process applies changes and publishes views. Processes with
	// different configurations would undo each other's views.
	follows bool
	afresh  bool
	// since is when views that are still refused were first refused.
	since map[catalog.Name]time.Time

	err error
	// found and outcomes are nil if the views could not be read.
	found    []catalog.View
	outcomes map[catalog.Name]viewOutcome
	// relations are those of the database, if the views found are not the known ones.
	relations []catalog.Relation
	// kept says that readers hold a view that should be dropped.
	kept bool
}

// run runs the look.
func (l *Look) run(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, viewTimeout)
	defer cancel()
	if l.err = l.make(ctx); l.err != nil && l.conn != nil {
		_ = l.conn.Close(ctx)
		l.conn = nil
	}
}

func (l *Look) make(ctx context.Context) (err error) {
	if l.conn == nil || l.conn.IsClosed() {
		if l.conn, err = upstream.ConnectOwner(ctx, l.config); err != nil {
			return err
		}
	}
	work := l.publish
	if l.follows {
		work = l.follow
	}
	if err = work(ctx); l.outcomes == nil || slices.EqualFunc(l.found, l.known, sameView) {
		return err
	}
	var failed error
	if l.relations, failed = inspect.Relations(ctx, l.conn, l.config.Upstream.Reader.User); failed != nil {
		l.outcomes = nil // what is found is known of with its relations, or not at all
	}
	return errors.Join(err, failed)
}

// publish brings the published views in line with the definitions and the policy.
func (l *Look) publish(ctx context.Context) error {
	p, found, err := newPlanner(ctx, l.conn, l.config, l.rewritten, l.definitions)
	if err != nil {
		return err
	}
	plans := p.plan(found)
	l.found, l.rewritten = found, p.rewritten
	m := viewMaker{
		conn: l.conn, policy: l.config.Policy, reader: p.reader, invoker: p.version >= invokerVersion, again: l.afresh,
		listed: p.listed, gone: func(name catalog.Name) bool { return p.gone(name, l.afresh) },
		told: func(name catalog.Name) bool {
			since, refused := l.since[name]
			return refused && time.Since(since) > 2*Interval
		},
	}
	if err = m.make(ctx, plans); errors.Is(err, errViewStore) {
		l.outcomes = outcomesOf(found, l.config.Policy, func(catalog.Name) viewOutcome { return oldStore })
		return nil
	}
	l.outcomes, l.kept = m.outcomes, m.kept
	return err
}

// follow reads what another process has published.
func (l *Look) follow(ctx context.Context) (err error) {
	if l.found, err = inspect.Views(ctx, l.conn, l.config.Policy, nil); err != nil {
		return err
	}
	stored, err := storedViews(ctx, l.conn, l.config.Upstream.Reader.User)
	if errors.Is(err, errViewStore) {
		l.outcomes = outcomesOf(l.found, l.config.Policy, func(catalog.Name) viewOutcome { return oldStore })
		return nil
	}
	if err == nil {
		l.outcomes = outcomesOf(l.found, l.config.Policy, func(name catalog.Name) viewOutcome { return stored[name].outcome() })
	}
	return err
}

// outcomesOf returns the outcomes of the listed relations, without those of views that can never
// be published.
func outcomesOf(found []catalog.View, policy catalog.Policy, of func(catalog.Name) viewOutcome) map[catalog.Name]viewOutcome {
	outcomes := make(map[catalog.Name]viewOutcome)
	for _, name := range policy.Readable {
		outcomes[name] = of(name)
	}
	for _, v := range found {
		if !v.Publishable() {
			delete(outcomes, v.Name)
		}
	}
	return outcomes
}

// DropWidened drops published views that show readers more than they may read themselves:
// privileges may have changed while no kproxy ran.
func DropWidened(ctx context.Context, c *config.Config) error {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	found, err := inspect.Widenings(ctx, conn, c.Upstream.Reader.User)
	if err != nil {
		return nil //nolint:nilerr // the check says what is missing
	}
	for _, w := range found {
		if _, err := conn.Exec(ctx, "DROP VIEW IF EXISTS "+w.View.SQL()+" CASCADE"); err != nil {
			return fmt.Errorf("dropping view %s, which shows %s: %w", w.View, w.Source, err)
		}
	}
	return nil
}

// sameView tells whether clients find the same under a view's name.
func sameView(a, b catalog.View) bool {
	return a.Name == b.Name && a.OID == b.OID && a.Kind == b.Kind && a.Listed == b.Listed
}

// AddWithdrawn adds the listed relations that readers cannot read, as the private store has
// them, given the tables that they cannot read.
func AddWithdrawn(ctx context.Context, conn *pgx.Conn, c *config.Config, found []catalog.View, withdrawn map[catalog.Name]string) error {
	stored, err := storedViews(ctx, conn, c.Upstream.Reader.User)
	if err != nil && !errors.Is(err, errViewStore) {
		return err
	}
	outcomes := outcomesOf(found, c.Policy, func(name catalog.Name) viewOutcome { return stored[name].outcome() })
	withdraw(found, outcomes, c.Policy.Readable, withdrawn)
	return nil
}
