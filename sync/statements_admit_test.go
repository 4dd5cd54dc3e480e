package sync

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/accept"
)

// TestStatementsOfTables follows what becomes of the tables of a policy when a process begins to
// apply: they go on, are made anew or compared beside the stream, or wait for the operator.
func TestStatementsOfTables(t *testing.T) { //nolint:funlen // a list
	t.Parallel()
	seen := func(s *session) string {
		var jobs, tables []string
		for _, j := range s.jobs {
			jobs = append(jobs, fmt.Sprintf("%s as generation %d of %d columns", j.kind.request(), j.generation, len(j.bound.Columns)))
		}
		for _, of := range s.tables {
			tables = append(tables, fmt.Sprintf("generation %d at %s, shown from %s, of %d leaves and %d columns", of.release.generation, of.release.position, of.release.showAt, len(of.definition.leaves), len(of.definition.bound.Columns)))
		}
		return fmt.Sprintf("jobs %v, tables %v; %s", jobs, tables, toldOf(s.syncer.Status().Tables))
	}
	admit := func(ctx context.Context, s *session, of *table) (any, error) {
		s.syncer.haltedRetried = true
		found, err := s.store.generations(ctx)
		if err == nil {
			g, known := found[of.layout.name()]
			err = s.admit(ctx, of, g, known)
		}
		return seen(s), err
	}
	guarded := func(ctx context.Context, s *session, of *table) (any, error) {
		of.layout.digest, of.layout.former = "guarded", "guarded"
		return admit(ctx, s, of)
	}
	changed := func(change func(bound *accept.Table)) answer {
		of := boundTable(t)
		change(&of.definition.bound)
		return answer{words: "What a table is:", rows: [][]any{{"public", "visits", identityOf(of), true}}}
	}
	relation := func(change func(row []any)) answer {
		row := relationRow(boundTable(t))
		change(row)
		return answer{words: "What a relation is:", rows: [][]any{row}}
	}
	never := []answer{{words: "SELECT identity::text FROM kproxy_store.accepted"}, {words: "SELECT accepted_schema"}}
	prepare := func(ctx context.Context, s *session, _ *table) (any, error) {
		err := s.prepare(ctx)
		return seen(s), err
	}
	other := func(change func(*session)) func(context.Context, *session, *table) (any, error) {
		return func(ctx context.Context, s *session, of *table) (any, error) {
			of.layout.publication.Policy.Table.Relation = "others"
			if change != nil {
				change(s)
			}
			return prepare(ctx, s, of)
		}
	}
	described := func(ctx context.Context, s *session, of *table) (any, error) {
		d, absent, err := of.layout.source().readDefinition(ctx, s.store.conn, s.syncer.config.Publication, of.definition.bound)
		halt := (*TableError)(nil)
		if errors.As(err, &halt) {
			return fmt.Sprintf("resync %t, afresh %t, heals %t", halt.resync, halt.afresh, halt.heals), err
		}
		return fmt.Sprintf("%s, %v, %v, bound %d columns, absent %t", d.text(), d.leaves, d.by, len(d.bound.Columns), absent), err
	}
	notThere := answer{words: "SELECT NOT EXISTS", rows: [][]any{{false}}}
	stillThere := answer{words: "SELECT NOT EXISTS", rows: [][]any{{true}}}
	conversations := []conversation{
		{name: "in step", do: admit},
		{name: "in step, to be rebuilt", do: admit, answers: []answer{stored(t, func(g *generation) { g.asked = askRebuild })}},
		{name: "not shown yet", do: admit, answers: []answer{stored(t, func(g *generation) { g.shows = 300 })}},
		{name: "to be compared", do: admit, answers: []answer{stored(t, func(g *generation) { g.asked = askResync })}},
		{name: "noted", do: admit, answers: []answer{stored(t, func(g *generation) { g.noted = askResync })}},
		{name: "noted to be rebuilt", do: admit, answers: []answer{stored(t, func(g *generation) { g.noted = askRebuild })}},
		{name: "not applied", do: admit, answers: []answer{stored(t, func(g *generation) { g.lsn = 0 })}},
		{name: "unknown", do: admit, answers: append([]answer{{words: "SELECT table_schema, table_name, generation, policy_digest"}}, never...)},
		{name: "made for another policy", do: admit, answers: []answer{stored(t, func(g *generation) { g.digest = "other" })}},
		{name: "guarded, made for another policy", do: guarded, answers: []answer{stored(t, func(g *generation) { g.updates = "guarded" })}},
		{name: "guarded, to be rebuilt for another policy", do: guarded, answers: []answer{stored(t, func(g *generation) { g.updates, g.asked = "guarded", askRebuild })}},
		{name: "a mark", do: guarded, answers: []answer{stored(t, func(g *generation) { g.updates, g.number = "guarded", markNumber })}},
		{name: "halted", do: admit, answers: []answer{stored(t, func(g *generation) { g.halted, g.fix = "why", "how" })}},
		{name: "halted, and heals", do: admit, answers: []answer{stored(t, func(g *generation) { g.halted, g.fix, g.heals = "why", "how", true })}},
		{name: "another definition", do: admit, answers: []answer{relation(func(row []any) { row[7] = "other" })}},
		{name: "a label was renamed", do: admit, answers: []answer{stored(t, func(g *generation) { g.definition = strings.Replace(g.definition, "[]", `["gone"]`, 1) })}},
		{name: "a column has gone", do: admit, answers: []answer{changed(func(b *accept.Table) { b.Columns = b.Columns[:len(b.Columns)-1] })}},
		{name: "a column was renamed", do: admit, answers: []answer{changed(func(b *accept.Table) { b.Columns[2].Name = "years" })}},
		{name: "halted for the same", do: func(ctx context.Context, s *session, of *table) (any, error) {
			halt := &TableError{Table: of.layout.name(), What: "what", Fix: "fix"}
			err := s.haltAgain(ctx, of, generation{halted: "what", fix: "fix"}, halt)
			return seen(s), err
		}},
		{name: "halted for something else", do: func(ctx context.Context, s *session, of *table) (any, error) {
			halt := &TableError{Table: of.layout.name(), What: "what", Fix: "fix"}
			err := s.haltAgain(ctx, of, generation{halted: "other", fix: "fix"}, halt)
			return seen(s), err
		}},
		{name: "accepted under another name", do: admit, answers: []answer{
			{words: "SELECT identity::text FROM kproxy_store.accepted"}, {words: "SELECT accepted_schema", rows: [][]any{{"public", "before", identityOf(boundTable(t))}}},
		}},
		{name: "never accepted", do: admit, answers: never},
		{name: "never accepted, and made for another policy", do: admit, answers: append([]answer{stored(t, func(g *generation) { g.digest = "other" })}, never...)},
		{name: "not as configured, and never accepted", do: admit, answers: append([]answer{changed(func(b *accept.Table) { b.Columns[2].TypeOID = 20 })}, never...)},
		{name: "dropped", do: admit, answers: []answer{{words: "What a table is:"}}},
		{name: "prepare", do: prepare},
		{name: "prepare what does not fit", do: func(ctx context.Context, s *session, of *table) (any, error) {
			s.policy, s.unfit = nil, []catalog.Name{of.layout.name()}
			return prepare(ctx, s, of)
		}},
		{name: "prepare what does not fit and is halted", do: func(ctx context.Context, s *session, of *table) (any, error) {
			s.policy, s.unfit = nil, []catalog.Name{of.layout.name()}
			return prepare(ctx, s, of)
		}, answers: []answer{stored(t, func(g *generation) { g.halted, g.fix = "why", "how" })}},
		{name: "no longer protected", do: other(nil)},
		{name: "no longer protected, while readers hold it", do: other(nil), answers: []answer{{words: "DROP VIEW IF EXISTS", state: lockNotAvailable}}},
		{name: "no longer protected, and guarded", do: other(func(s *session) { s.policy = nil }), answers: []answer{stored(t, func(g *generation) { g.updates = "guarded" })}},
		{name: "no longer protected, but a mark", do: other(func(s *session) { s.policy = nil }), answers: []answer{stored(t, func(g *generation) { g.number, g.consent = markNumber, true })}},
		{name: "no longer protected, and halted before it was published", do: other(func(s *session) { s.policy = nil }), answers: []answer{stored(t, func(g *generation) { g.number = markNumber })}},
		{name: "not in this configuration", do: other(func(s *session) { s.syncer.followed, s.policy = true, nil })},
		{name: "not in this configuration, and halted", do: other(func(s *session) { s.syncer.followed, s.policy = true, nil }), answers: []answer{stored(t, func(g *generation) { g.halted = "why" })}},
		{name: "renamed, and guarded", do: renamed(nil), answers: []answer{stored(t, func(g *generation) { g.updates = "guarded" })}},
		{name: "renamed, guarded and halted already", do: renamed(&generation{halted: "why"}), answers: []answer{stored(t, func(g *generation) { g.updates = "guarded" })}},
		{name: "renamed, guarded and marked already", do: renamed(&generation{halted: "why", consent: true}), answers: []answer{stored(t, func(g *generation) { g.updates = "guarded" })}},
		{name: "halted, and not renamed", do: renamed(&generation{halted: "why"})},
		{name: "described", do: described},
		{name: "described after a column has gone", do: described, answers: []answer{changed(func(b *accept.Table) { b.Columns = b.Columns[1:] })}},
		{name: "described by another name", do: described, answers: []answer{relation(func(row []any) { row[1] = "others" })}},
		{name: "described without a publication", do: described, answers: []answer{relation(func(row []any) { row[8] = false })}},
		{name: "described and not published", do: described, answers: []answer{relation(func(row []any) { row[9] = false }), notThere}},
		{name: "described and published again", do: described, answers: []answer{relation(func(row []any) { row[9] = false }), stillThere}},
		{name: "described without a column", do: described, answers: []answer{relation(func(row []any) { row[10].([]string)[2] = "years" })}},
		{name: "described with another type", do: described, answers: []answer{relation(func(row []any) { row[11].([]uint32)[2] = 20 })}},
		{name: "described with another modifier", do: described, answers: []answer{relation(func(row []any) { row[12].([]int32)[2] = 20 })}},
		{name: "described with another identity", do: described, answers: []answer{relation(func(row []any) { row[5] = []string{`["age"]`} })}},
		{name: "described, and dropped", do: described, answers: []answer{{words: "What a relation is:"}}},
		{name: "the end of a session", do: func(ctx context.Context, s *session, of *table) (any, error) {
			if _, err := s.store.conn.Exec(ctx, "begin"); err != nil {
				return nil, err
			}
			err := s.haltAfterwards(ctx, &TableError{Table: of.layout.name(), What: "what", Fix: "fix"})
			return seen(s), err
		}},
		{name: "the end of a session, for a cause", do: func(ctx context.Context, s *session, of *table) (any, error) {
			err := s.haltAfterwards(ctx, &TableError{Table: of.layout.name(), What: "what", Fix: "fix", Err: errors.New("cause")})
			return seen(s), err
		}},
		{name: "the end of a session, by another definition", do: func(ctx context.Context, s *session, of *table) (any, error) {
			err := s.haltAfterwards(ctx, &TableError{Table: of.layout.name(), What: "what", Fix: "fix"})
			return seen(s), err
		}, answers: []answer{relation(func(row []any) { row[7] = "other" })}},
		{name: "the end of a session, by a renamed column", do: func(ctx context.Context, s *session, of *table) (any, error) {
			err := s.haltAfterwards(ctx, &TableError{Table: of.layout.name(), What: "what", Fix: "fix"})
			return seen(s), err
		}, answers: []answer{changed(func(b *accept.Table) { b.Columns[2].Name = "years" })}},
		{name: "lock the source", do: func(ctx context.Context, s *session, of *table) (any, error) {
			return nil, within(ctx, s, func(tx pgx.Tx) error { return of.layout.source().lock(ctx, tx) })
		}, answers: []answer{{words: "WITH RECURSIVE tree(oid) AS (\n\t\tSELECT $1::oid UNION ALL", rows: [][]any{{false}}}}},
		{name: "lock a source that was rewritten", do: func(ctx context.Context, s *session, of *table) (any, error) {
			return nil, within(ctx, s, func(tx pgx.Tx) error { return of.layout.source().lock(ctx, tx) })
		}, answers: []answer{{words: "WITH RECURSIVE tree(oid) AS (\n\t\tSELECT $1::oid UNION ALL", rows: [][]any{{true}}}}},
		{name: "a column that nobody needs was dropped", do: func(ctx context.Context, s *session, of *table) (any, error) {
			found, err := FindUnaccepted(ctx, s.store.conn, s.store.source, []catalog.Publication{of.layout.publication})
			if err == nil {
				err = Accept(ctx, s.store.conn, found)
			}
			return fmt.Sprintf("%+v", found), err
		}, answers: []answer{changed(func(b *accept.Table) { b.Columns = append(b.Columns[:1], b.Columns[2:]...) })}},
	}
	unaccepted := func(name, digest, updates string) conversation {
		c := conversations[len(conversations)-1]
		c.name = name
		c.answers = []answer{{words: "SELECT policy_digest", rows: [][]any{{digest, updates}}}, changed(func(b *accept.Table) { b.Columns[0].Collation = 9 })}
		return c
	}
	conversations = append(conversations, unaccepted("unaccepted, of another release", "other", "immediate"),
		unaccepted("unaccepted, of another release that is guarded", "other", "guarded"), unaccepted("unaccepted, of the same release", boundTable(t).layout.digest, "immediate"))
	holdConversations(t, "tables.txt", conversations)
}

// renamed has a table under another name, with what the store knows under that one.
func renamed(known *generation) func(context.Context, *session, *table) (any, error) {
	return func(ctx context.Context, s *session, of *table) (any, error) {
		found, err := s.store.generations(ctx)
		if err != nil {
			return nil, err
		}
		of.layout.publication.Policy.Table.Relation = "others"
		if known != nil {
			found[of.layout.name()] = *known
		}
		g, is, err := s.markRenamed(ctx, of, found)
		return fmt.Sprintf("%t, %+v", is, g), err
	}
}
