package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/check"
)

// patience bounds the wait for a change of the source to be seen.
const patience = 30 * time.Second

// guide walks through one protected table and checks what it shows.
type guide struct {
	*stage
	table  catalog.TablePolicy
	shape  catalog.Publication
	client *pgx.Conn // through kproxy
	owner  *pgx.Conn // at the source
	failed int
}

// tour is the scripted demonstration: query, insert, update and delete at the
// source, attacks, and the verifier. Its error says how many steps failed.
func (s *stage) tour(ctx context.Context, source source) error {
	checked, err := check.Full(ctx, s.config)
	if err != nil {
		return err
	}
	publications := checked.Publications
	for _, p := range publications {
		if reason := s.withheld(p.Policy.Table); reason != "" {
			return fmt.Errorf("there is nothing to tour: nothing of %s is published, since %s", p.Policy.Table, reason)
		}
	}
	var roots, singles []catalog.Publication
	for _, p := range publications {
		switch {
		case p.Membership == nil:
			singles = append(singles, p)
		case p.Policy.Table == p.Membership.People.Root: // its tour is that of all tables
			roots = append(roots, p)
		}
	}
	failed := 0
	for _, p := range append(roots, singles...) {
		inTable, err := s.tourOf(ctx, p)
		if err != nil {
			return fmt.Errorf("touring %s: %w", p.Policy.Table, err)
		}
		failed += inTable
	}
	if failed > 0 {
		return fmt.Errorf("%d steps of the tour failed", failed)
	}
	s.say("\nEverything held.")
	return nil
}

// tourOf walks through one table, or those that are released together with it, and returns how
// many steps failed.
func (s *stage) tourOf(ctx context.Context, p catalog.Publication) (failed int, err error) {
	g := &guide{stage: s, table: p.Policy, shape: p}
	if g.owner, err = pgx.Connect(ctx, s.server.DSN(s.config.Database)); err != nil {
		return 0, fmt.Errorf("connecting to the source: %w", err)
	}
	defer g.owner.Close(context.WithoutCancel(ctx))
	if err := g.connect(ctx); err != nil {
		return 0, err
	}
	defer func() { _ = g.client.Close(context.WithoutCancel(ctx)) }()
	if p.Membership != nil {
		of := peopleGuide{guide: g, people: p.Membership.People}
		g.table.Constraints = of.people.Constraints // of all tables together
		s.say("\nA tour of persons and what belongs to them, with %v updates", p.Policy.Updates.Mode)
		of.walkPeople(ctx)
	} else {
		s.say("\nA tour of %s, with %v updates", p.Policy.Table, p.Policy.Updates.Mode)
		g.walk(ctx)
	}
	return g.failed, nil
}

func (g *guide) connect(ctx context.Context) (err error) {
	if g.client, err = pgx.Connect(ctx, g.proxyURL()); err != nil {
		return fmt.Errorf("connecting through kproxy: %w", err)
	}
	return nil
}

// step runs one step and shows its outcome.
func (g *guide) step(what string, do func() (string, error)) {
	outcome, err := do()
	if err != nil {
		g.failed++
		g.say("  FAILED  %s: %v", what, err)
		return
	}
	if outcome != "" {
		outcome = ": " + outcome
	}
	g.say("  ok      %s%s", what, outcome)
}

func (g *guide) walk(ctx context.Context) {
	name := g.table.Table.SQL()
	g.step("the table is read under its own name", func() (string, error) {
		n, err := g.count(ctx, g.client, name, "")
		return fmt.Sprintf("%d rows", n), err
	})
	g.hide(ctx, "every row hides among others")
	if g.table.Updates.Mode == catalog.Guarded {
		g.walkGuarded(ctx)
	} else {
		g.walkImmediate(ctx)
	}
	g.hide(ctx, "every row still hides among others")
	for _, attack := range g.attacks() {
		g.step("refused: "+attack, func() (string, error) { return g.refused(ctx, attack) })
	}
	g.step("the verifier agrees", func() (string, error) { return g.verify(ctx) })
}

// walkImmediate changes the source and sees each change at once.
func (g *guide) walkImmediate(ctx context.Context) {
	name := g.table.Table.SQL()
	g.step("a row deleted at the source leaves the release", func() (string, error) {
		return g.follow(ctx, "CREATE TEMP TABLE kept AS WITH gone AS (DELETE FROM "+name+" WHERE "+g.firstRows(name, 1)+" RETURNING *) SELECT * FROM gone")
	})
	g.step("a row inserted at the source joins it", func() (string, error) {
		return g.follow(ctx, "INSERT INTO "+name+" SELECT * FROM kept")
	})
	g.step("a row updated at the source changes it", func() (string, error) { return g.update(ctx) })
}

func (g *guide) firstRows(name string, count int) string {
	keys := make([]string, len(g.shape.Relation.Key))
	for i, k := range g.shape.Relation.Key {
		keys[i] = catalog.QuoteIdentifier(k)
	}
	key := strings.Join(keys, ", ")
	return fmt.Sprintf("(%s) IN (SELECT %s FROM %s ORDER BY %s LIMIT %d)", key, key, name, key, count)
}

func (g *guide) count(ctx context.Context, conn *pgx.Conn, relation, where string) (n int, err error) {
	err = conn.QueryRow(ctx, "SELECT count(*) FROM "+relation+" "+where).Scan(&n)
	return n, err
}

// hide has a step for every k, over its own columns.
func (g *guide) hide(ctx context.Context, what string) {
	for _, c := range g.sizes() {
		in := ""
		if len(c.Over) > 0 {
			in = " in " + strings.Join(c.Over, ", ")
		}
		g.step(what+in, func() (string, error) { return g.smallestClass(ctx, c) })
	}
}

// sizes are the policy's k-anonymity constraints, or one that tells how many rows
// are alike where other constraints alone hide them.
func (g *guide) sizes() []privacy.Spec {
	var sizes []privacy.Spec
	for _, c := range g.table.Constraints {
		if c.Model == privacy.K {
			sizes = append(sizes, c)
		}
	}
	if len(sizes) == 0 {
		return []privacy.Spec{{K: 1}}
	}
	return sizes
}

// generalized lists the published columns that are generalized and that a
// constraint is over.
func (g *guide) generalized(c privacy.Spec) string {
	var names []string
	for _, p := range g.shape.Columns {
		if p.Generalized() && (len(c.Over) == 0 || slices.Contains(c.Over, p.Source)) {
			names = append(names, catalog.QuoteIdentifier(p.Name))
		}
	}
	return strings.Join(names, ", ")
}

// smallestClass counts rows that agree where a constraint is over. Which of them
// are one person's is not published: of persons it shows that k rows are there at
// least, and leaves the rest to the verifier.
func (g *guide) smallestClass(ctx context.Context, c privacy.Spec) (string, error) {
	var smallest, classes int
	sql := fmt.Sprintf("SELECT coalesce(min(n), 0), count(*) FROM (SELECT count(*) AS n FROM %s GROUP BY %s) AS classes", g.table.Table.SQL(), g.generalized(c))
	if err := g.client.QueryRow(ctx, sql).Scan(&smallest, &classes); err != nil {
		return "", err
	}
	if classes > 0 && smallest < c.K {
		return "", fmt.Errorf("the smallest of %d groups has %d rows, below k = %d", classes, smallest, c.K)
	}
	outcome := fmt.Sprintf("%d groups of like rows, the smallest has %d, k = %d", classes, smallest, c.K)
	if g.table.Subject != "" {
		outcome += "; persons are not published, the verifier counts them"
	}
	return outcome, nil
}

// follow changes the source and waits until the release has as many rows.
func (g *guide) follow(ctx context.Context, change string) (string, error) {
	name := g.table.Table.SQL()
	if _, err := g.owner.Exec(ctx, change); err != nil {
		return "", err
	}
	want, err := g.count(ctx, g.owner, name, "")
	if err != nil {
		return "", err
	}
	return g.await(ctx, name, "", want)
}

// update moves a sensitive value that no row has into one row.
func (g *guide) update(ctx context.Context) (string, error) {
	name := g.table.Table.SQL()
	published := g.table.ByRole(catalog.Sensitive)
	if len(published) == 0 {
		return "there is no sensitive column to change", nil
	}
	column := catalog.QuoteIdentifier(published[len(published)-1].Name)
	// The last row takes the value of the first one.
	where := fmt.Sprintf("WHERE %s::text = (SELECT min(%s::text) FROM %s)", column, column, name)
	before, err := g.count(ctx, g.owner, name, where)
	if err != nil {
		return "", err
	}
	change := fmt.Sprintf(`UPDATE %s SET %s = (SELECT %s FROM %s %s LIMIT 1) WHERE ctid = (SELECT min(ctid) FROM %s WHERE %s::text <> (SELECT min(%s::text) FROM %s))`,
		name, column, column, name, where, name, column, column, name)
	tag, err := g.owner.Exec(ctx, change)
	if err != nil {
		return "", err
	}
	return g.await(ctx, name, where, before+int(tag.RowsAffected()))
}

// await waits until the release has so many rows, or none since what is left at
// the source cannot meet the constraints.
func (g *guide) await(ctx context.Context, name, where string, want int) (string, error) {
	started := time.Now()
	for {
		n, err := g.shown(ctx, name, where)
		if err != nil {
			return "", err
		}
		if n == want {
			return fmt.Sprintf("seen after %d ms", time.Since(started).Milliseconds()), nil
		}
		if n == 0 && g.withheld(g.table.Table) != "" {
			records, err := g.count(ctx, g.owner, name, "")
			if err != nil {
				return "", err
			}
			// One status tells both: another one may be of other records.
			if status := g.daemon.Status().Tables[g.table.Table]; status.Records == records && status.Reason != "" { // all changes are applied
				return "nothing is published now: " + oneLine(status.Reason), nil
			}
		}
		if time.Since(started) > patience {
			return "", fmt.Errorf("the release shows %d rows instead of %d", n, want)
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// shown counts the rows of the release. Where nothing can be published, readers'
// sessions end, and further ones get an error as long as that is so.
func (g *guide) shown(ctx context.Context, name, where string) (int, error) {
	if g.client.IsClosed() {
		if err := g.connect(ctx); err != nil {
			return 0, err
		}
	}
	n, err := g.count(ctx, g.client, name, where)
	refused := (*pgconn.PgError)(nil)
	withdrawn := g.client.IsClosed() || errors.As(err, &refused) && refused.Code == "55000" // object_not_in_prerequisite_state
	if err != nil && withdrawn {
		return 0, nil
	}
	return n, err
}

// attacks are statements that must not be answered.
func (g *guide) attacks() []string {
	name := g.table.Table.SQL()
	attacks := []string{
		"SELECT query_to_xml('SELECT * FROM " + name + "', true, true, '')",
		"SELECT * FROM kproxy_store.generation",
		"SELECT * FROM pg_statistic",
		"SELECT pg_read_file('PG_VERSION')",
		"COPY " + name + " TO PROGRAM 'cat'",
		"DELETE FROM " + name,
		"SELECT 1; DROP TABLE " + name,
	}
	for _, key := range g.shape.Relation.Key {
		if _, named := g.table.Column(key); !named {
			attacks = append(attacks, fmt.Sprintf("SELECT %s FROM %s", catalog.QuoteIdentifier(key), name))
		}
	}
	for _, c := range g.table.ByRole(catalog.Identifying) {
		attacks = append(attacks, fmt.Sprintf("SELECT %s FROM %s", catalog.QuoteIdentifier(c.Name), name))
	}
	return attacks
}

func (g *guide) refused(ctx context.Context, attack string) (string, error) {
	_, err := g.client.Exec(ctx, attack, pgx.QueryExecModeSimpleProtocol)
	server := (*pgconn.PgError)(nil)
	switch {
	case err == nil:
		return "", errors.New("it was answered")
	case !errors.As(err, &server):
		return "", err
	}
	return fmt.Sprintf("%s (%s)", server.Message, server.Code), nil
}

func (g *guide) verify(ctx context.Context) (string, error) {
	report, err := g.prove(ctx, g.table.Table)
	if err != nil {
		return "", err
	}
	t := report[0]
	if !t.Passed() {
		return "", errors.New("'kproxy verify' found a broken promise")
	}
	return fmt.Sprintf("%d promises kept, %d classes of %d to %d records", len(t.Checks), t.Classes, t.Smallest, t.Largest), nil
}
