package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/daemon"
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
	_, publications, _, err := daemon.Check(ctx, s.config)
	if err != nil {
		return err
	}
	client, err := pgx.Connect(ctx, s.proxyURL())
	if err != nil {
		return fmt.Errorf("connecting through kproxy: %w", err)
	}
	defer client.Close(context.WithoutCancel(ctx))
	owner, err := pgx.Connect(ctx, s.server.DSN(s.config.Database))
	if err != nil {
		return fmt.Errorf("connecting to the source: %w", err)
	}
	defer owner.Close(context.WithoutCancel(ctx))
	failed := 0
	for _, p := range publications {
		g := &guide{stage: s, table: p.Policy, shape: p, client: client, owner: owner}
		s.say("\nA tour of %s", p.Policy.Table)
		g.walk(ctx)
		failed += g.failed
	}
	if failed > 0 {
		return fmt.Errorf("%d steps of the tour failed", failed)
	}
	s.say("\nEverything held.")
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
	g.step("every row hides among others", func() (string, error) { return g.smallestClass(ctx) })
	g.step("a row deleted at the source leaves the release", func() (string, error) {
		return g.follow(ctx, "CREATE TEMP TABLE kept AS WITH gone AS (DELETE FROM "+name+" WHERE "+g.firstRow(name)+" RETURNING *) SELECT * FROM gone", -1)
	})
	g.step("a row inserted at the source joins it", func() (string, error) {
		return g.follow(ctx, "INSERT INTO "+name+" SELECT * FROM kept", +1)
	})
	g.step("a row updated at the source changes it", func() (string, error) { return g.update(ctx) })
	g.step("every row still hides among others", func() (string, error) { return g.smallestClass(ctx) })
	for _, attack := range g.attacks() {
		g.step("refused: "+attack, func() (string, error) { return g.refused(ctx, attack) })
	}
	g.step("the verifier agrees", func() (string, error) { return g.verify(ctx) })
}

func (g *guide) firstRow(name string) string {
	keys := make([]string, len(g.shape.Relation.Key))
	for i, k := range g.shape.Relation.Key {
		keys[i] = catalog.QuoteIdentifier(k)
	}
	key := strings.Join(keys, ", ")
	return fmt.Sprintf("(%s) IN (SELECT %s FROM %s ORDER BY %s LIMIT 1)", key, key, name, key)
}

func (g *guide) count(ctx context.Context, conn *pgx.Conn, relation, where string) (n int, err error) {
	err = conn.QueryRow(ctx, "SELECT count(*) FROM "+relation+" "+where).Scan(&n)
	return n, err
}

// generalized lists the published columns that are generalized.
func (g *guide) generalized() string {
	var names []string
	for _, c := range g.shape.Columns {
		if c.Generalized() {
			names = append(names, catalog.QuoteIdentifier(c.Name))
		}
	}
	return strings.Join(names, ", ")
}

func (g *guide) smallestClass(ctx context.Context) (string, error) {
	var smallest, classes int
	sql := fmt.Sprintf("SELECT coalesce(min(n), 0), count(*) FROM (SELECT count(*) AS n FROM %s GROUP BY %s) AS classes", g.table.Table.SQL(), g.generalized())
	if err := g.client.QueryRow(ctx, sql).Scan(&smallest, &classes); err != nil {
		return "", err
	}
	k := 0
	for _, c := range g.table.Constraints {
		k = max(k, c.K)
	}
	if classes > 0 && smallest < k {
		return "", fmt.Errorf("the smallest of %d groups has %d rows, below k = %d", classes, smallest, k)
	}
	return fmt.Sprintf("%d groups of like rows, the smallest has %d", classes, smallest), nil
}

// follow changes the source and waits until the release has as many rows more.
func (g *guide) follow(ctx context.Context, change string, more int) (string, error) {
	name := g.table.Table.SQL()
	before, err := g.count(ctx, g.client, name, "")
	if err != nil {
		return "", err
	}
	if _, err := g.owner.Exec(ctx, change); err != nil {
		return "", err
	}
	return g.await(ctx, name, "", before+more)
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

func (g *guide) await(ctx context.Context, name, where string, want int) (string, error) {
	started := time.Now()
	for {
		n, err := g.count(ctx, g.client, name, where)
		if err != nil {
			return "", err
		}
		if n == want {
			return fmt.Sprintf("seen after %d ms", time.Since(started).Milliseconds()), nil
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

// attacks are statements that must not be answered.
func (g *guide) attacks() []string {
	name := g.table.Table.SQL()
	attacks := []string{
		"SELECT query_to_xml('SELECT * FROM " + name + "', true, true, '')",
		"SELECT * FROM kproxy_store.generation",
		"SELECT * FROM pg_stats",
		"SELECT pg_read_file('PG_VERSION')",
		"COPY " + name + " TO PROGRAM 'cat'",
		"DELETE FROM " + name,
		"SELECT 1; DROP TABLE " + name,
	}
	for _, key := range g.shape.Relation.Key {
		if c, named := g.table.Column(key); !named || c.Role == catalog.Identifying {
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
	report, err := daemon.Verify(ctx, g.config)
	if err != nil {
		return "", err
	}
	for _, t := range report {
		if t.Table != g.table.Table.String() {
			continue
		}
		if !t.Passed() {
			return "", errors.New("'kproxy verify' found a broken promise")
		}
		return fmt.Sprintf("%d promises kept, %d classes of %d to %d records", len(t.Checks), t.Classes, t.Smallest, t.Largest), nil
	}
	return "", errors.New("the table is missing from the report")
}
