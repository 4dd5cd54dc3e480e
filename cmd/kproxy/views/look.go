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
	source      *pgx.Conn      // to a source in a database of its own; likewise
	known       []catalog.View // to readers
	// follows says that another process applies changes and publishes views. Processes with
	// different configurations would undo each other's views.
	follows bool
	afresh  bool
	// since is when views that are still refused were first refused.
	since map[viewer]time.Time

	err error
	// away is why a source in a database of its own could not be asked.
	away error
	// found and outcomes are nil if the views could not be read.
	found    []catalog.View
	outcomes viewOutcomes
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
	if err = work(ctx); l.outcomes == nil || l.config.IsApart() || slices.EqualFunc(l.found, l.known, sameView) {
		return err // views that are apart are no relations of this database
	}
	var failed error
	if l.relations, failed = inspect.Relations(ctx, l.conn, l.config.Upstream.Reader.User); failed != nil {
		l.outcomes = nil // what is found is known of with its relations, or not at all
	}
	return errors.Join(err, failed)
}

// publish brings the published views in line with the definitions and the policy.
func (l *Look) publish(ctx context.Context) error {
	p, found, err := l.plan(ctx)
	if errors.Is(err, errViewStore) {
		l.found, l.outcomes = found, outcomesOf(found, l.config.Policy, func(string, catalog.Name) viewOutcome { return oldStore })
		return nil
	}
	if err != nil {
		return err
	}
	plans := p.plan(found)
	l.found = found
	m := viewMaker{
		conn: l.conn, policy: ofRelease(l.config), reader: p.reader, invoker: p.version >= invokerVersion, again: l.afresh,
		listed: p.listed, gone: func(name catalog.Name) bool { return p.gone(name, l.afresh) },
		told: l.told(""),
	}
	err = m.make(ctx, plans)
	if errors.Is(err, errViewStore) {
		l.outcomes = outcomesOf(found, l.config.Policy, func(string, catalog.Name) viewOutcome { return oldStore })
		return nil
	}
	if l.kept = m.kept; m.outcomes != nil {
		l.outcomes = make(viewOutcomes)
		l.outcomes.add("", m.outcomes)
		err = errors.Join(err, l.publishFor(ctx, p, m))
	}
	p.rewritten.forget()
	l.rewritten = p.rewritten
	return err
}

// told tells of views for an audience whether every process has had time to refuse them.
func (l *Look) told(audience string) func(catalog.Name) bool {
	return func(name catalog.Name) bool {
		since, refused := l.since[viewer{audience, name}]
		return refused && time.Since(since) > 2*Interval
	}
}

// follow reads what another process has published.
func (l *Look) follow(ctx context.Context) (err error) {
	if l.config.IsApart() {
		l.found, err = keptViews(ctx, l.conn, l.config.Policy)
	} else {
		l.found, err = inspect.Views(ctx, l.conn, l.config.Policy, nil)
	}
	if err != nil && !errors.Is(err, errViewStore) {
		return err
	}
	outcomes, err := storedOutcomes(ctx, l.conn, l.config, l.found)
	if errors.Is(err, errViewStore) {
		l.outcomes = outcomesOf(l.found, l.config.Policy, func(string, catalog.Name) viewOutcome { return oldStore })
		return nil
	}
	l.outcomes = outcomes // nil after an error
	return err
}

// storedOutcomes are the outcomes that the store records.
func storedOutcomes(ctx context.Context, conn *pgx.Conn, c *config.Config, found []catalog.View) (viewOutcomes, error) {
	stored := make(map[string]map[catalog.Name]storedView)
	var err error
	if stored[""], err = storedViews(ctx, conn, "", c.Upstream.Reader.User); err != nil {
		return nil, err
	}
	for _, a := range withRoles(c.Policy.Audiences) {
		if stored[a.Name], err = storedViews(ctx, conn, a.Name, a.Roles[0]); err != nil {
			return nil, err
		}
	}
	return outcomesOf(found, c.Policy, func(audience string, name catalog.Name) viewOutcome { return stored[audience][name].outcome() }), nil
}

// outcomesOf returns the outcomes of the listed relations, and those of views for audiences, without those
// of views that can never be published.
func outcomesOf(found []catalog.View, policy catalog.Policy, of func(audience string, name catalog.Name) viewOutcome) viewOutcomes {
	outcomes := make(viewOutcomes)
	for _, name := range policy.Readable {
		outcomes[viewer{view: name}] = of("", name)
	}
	for _, v := range found {
		if !v.Publishable() {
			delete(outcomes, viewer{view: v.Name})
			continue
		}
		for _, a := range withRoles(policy.Audiences) {
			outcomes[viewer{a.Name, v.Name}] = of(a.Name, v.Name)
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
	readers := append([]catalog.Audience{{Roles: []string{c.Upstream.Reader.User}}}, withRoles(c.Policy.Audiences)...)
	for _, a := range readers {
		found, err := inspect.Widenings(ctx, conn, a.Name, a.Roles[0])
		if err != nil {
			return nil //nolint:nilerr // the check says what is missing
		}
		for _, w := range found {
			if _, err := conn.Exec(ctx, "DROP VIEW IF EXISTS "+w.View.SQL()+" CASCADE"); err != nil {
				return fmt.Errorf("dropping view %s, which shows %s: %w", w.View, w.Source, err)
			}
		}
	}
	return nil
}

// sameView tells whether clients find the same under a view's name.
func sameView(a, b catalog.View) bool {
	return a.Name == b.Name && a.OID == b.OID && a.Kind == b.Kind && a.Listed == b.Listed
}

// AddWithdrawn does what [Watcher.Withdraw] does, as the private store has it.
func AddWithdrawn(ctx context.Context, conn *pgx.Conn, c *config.Config, found []catalog.View, withdrawn map[catalog.Name]string, audiences map[string]map[catalog.Name]string) error {
	outcomes, err := storedOutcomes(ctx, conn, c, found)
	if err != nil && !errors.Is(err, errViewStore) {
		return err
	}
	withdraw(found, outcomes, c.Policy, withdrawn, audiences)
	return nil
}
