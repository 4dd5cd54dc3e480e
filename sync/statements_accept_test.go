package sync

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/accept"
)

// looking are the parts of conversations about what a table is.
type looking struct{ t *testing.T }

// altered is the answer of a server whose table was altered.
func (l looking) altered(change func(bound *accept.Table)) answer {
	l.t.Helper()
	of := boundTable(l.t)
	change(&of.definition.bound)
	return answer{words: "What a table is:", rows: [][]any{{"public", "visits", identityOf(of), true}}}
}

// never is what a server answers that has accepted nothing.
func (looking) never(more ...answer) []answer {
	return append(more, answer{words: "SELECT identity::text FROM kproxy_store.accepted"}, answer{words: "SELECT accepted_schema"})
}

// TestStatementsOfAccepting follows how tables are compared with what the operator accepted, and
// how what they are now is accepted.
func TestStatementsOfAccepting(t *testing.T) {
	t.Parallel()
	l := looking{t}
	look := func(ctx context.Context, s *session, of *table) (any, error) {
		other := of.layout.publication
		found, err := FindUnaccepted(ctx, s.store.conn, s.store.source, []catalog.Publication{of.layout.publication, other})
		if err == nil {
			err = Accept(ctx, s.store.conn, found)
		}
		return fmt.Sprintf("%+v", found), err
	}
	collated := l.altered(func(b *accept.Table) { b.Columns[0].Collation = 9 })
	made := func(digest, updates string) answer {
		return answer{words: "SELECT policy_digest", rows: [][]any{{digest, updates}}}
	}
	own := boundTable(t).layout.digest
	holdConversations(t, "accept.txt", []conversation{
		{name: "as it was accepted", do: look},
		{name: "renamed meanwhile", do: look, answers: []answer{{words: "What a table is:", rows: [][]any{{"public", "others", identityOf(boundTable(t)), true}}}}},
		{name: "altered meanwhile", do: look, answers: []answer{l.altered(func(b *accept.Table) { b.Columns[2].TypeOID = 20 })}},
		{name: "dropped meanwhile", do: look, answers: []answer{{words: "What a table is:"}}},
		{name: "never published, and never accepted", do: look, answers: l.never(answer{words: "SELECT policy_digest"})},
		{name: "never accepted, and made for the policy", do: look, answers: l.never(made(own, "immediate"))},
		{name: "never accepted, and made for another policy", do: look, answers: l.never(made("other", "immediate"))},
		{name: "accepted under another name", do: look, answers: []answer{
			made(own, "immediate"),
			{words: "SELECT identity::text FROM kproxy_store.accepted"},
			{words: "SELECT accepted_schema", rows: [][]any{{"public", "before", identityOf(boundTable(t))}}},
			collated,
		}},
		{name: "altered, and never published", do: look, answers: []answer{{words: "SELECT policy_digest"}, collated}},
		{name: "altered, of the same release", do: look, answers: []answer{made(own, "guarded"), collated}},
		{name: "altered, of another release", do: look, answers: []answer{made("other", ""), collated}},
		{name: "altered, of another release that is guarded", do: look, answers: []answer{made("other", "guarded"), collated}},
	})
}

// TestStatementsOfBinding follows how a table is held against what was accepted: when a session
// begins with it, when a snapshot of it is taken, and before something of it is published.
func TestStatementsOfBinding(t *testing.T) {
	t.Parallel()
	l := looking{t}
	retyped := l.altered(func(b *accept.Table) { b.Columns[2].TypeOID = 20 })
	less := l.altered(func(b *accept.Table) { b.Columns = append(b.Columns[:1], b.Columns[2:]...) })
	more := l.altered(func(b *accept.Table) { b.Columns = append(b.Columns, accept.Column{Number: 9, Name: "more"}) })
	told := func(err error) string {
		halt := (*TableError)(nil)
		if !errors.As(err, &halt) {
			return fmt.Sprint(err)
		}
		return fmt.Sprintf("resync %t, afresh %t, heals %t, fix %s", halt.resync, halt.afresh, halt.heals, halt.Fix)
	}
	accepted := func(digest string, known bool, number int64) func(context.Context, *session, *table) (any, error) {
		return func(ctx context.Context, s *session, of *table) (any, error) {
			bound, err := s.store.accepted(ctx, of, generation{digest: digest, number: number}, known)
			return fmt.Sprintf("%d columns; %s", len(bound.Columns), told(err)), err
		}
	}
	own := boundTable(t).layout.digest
	settle := func(then answer) func(ctx context.Context, s *session, of *table) (any, error) {
		return func(ctx context.Context, s *session, of *table) (any, error) {
			m := newMemoryServer(t, then)
			snapshot, err := of.layout.source().examine(ctx, m.session().store.conn, accept.Whole)
			if err != nil {
				return nil, err
			}
			err = of.settle(ctx, s.store.conn, snapshot.Table)
			return fmt.Sprintf("%d columns; %s", len(of.definition.bound.Columns), told(err)), err
		}
	}
	same := l.altered(func(*accept.Table) {})
	prove := func(ctx context.Context, s *session, of *table) (any, error) {
		err := within(ctx, s, func(tx pgx.Tx) error {
			return definitionCheck{table: of, bound: of.definition.bound, detail: accept.Whole, after: []uint32{7, 8}}.run(ctx, tx, "kproxy")
		})
		return told(err), err
	}
	holdConversations(t, "binding.txt", []conversation{
		{name: "accepted", do: accepted(own, true, 3)},
		{name: "accepted, and not as configured", do: func(ctx context.Context, s *session, of *table) (any, error) {
			of.layout.publication.Relation.Columns[2].Modifier = 20
			return accepted(own, true, 3)(ctx, s, of)
		}},
		{name: "not what was accepted", do: accepted(own, true, 3), answers: []answer{retyped}},
		{name: "never accepted", do: accepted(own, true, 3), answers: l.never()},
		{name: "never accepted, and unknown", do: accepted("other", false, 0), answers: l.never()},
		{name: "never accepted, and made for another policy", do: accepted("other", true, 3), answers: l.never()},
		{name: "never accepted, but a mark", do: accepted("other", true, markNumber), answers: l.never()},
		{name: "never accepted, and not as configured", do: accepted(own, true, 3), answers: l.never(retyped)},
		{name: "settled", do: settle(same)},
		{name: "settled with a column more", do: settle(more), answers: []answer{more}},
		{name: "settled otherwise than in the snapshot", do: settle(same), answers: []answer{more}},
		{name: "not settled", do: settle(retyped), answers: []answer{retyped}},
		{name: "proved", do: prove},
		{name: "proved with a column more", do: prove, answers: []answer{more}},
		{name: "a column has gone", do: prove, answers: []answer{less}},
		{name: "a column was retyped", do: prove, answers: []answer{retyped}},
		{name: "dropped", do: prove, answers: []answer{{words: "What a table is:"}}},
	})
}

// TestStatementsOfAdmission follows tables that are halted, or differ, in ways that their policy
// decides.
func TestStatementsOfAdmission(t *testing.T) {
	t.Parallel()
	seen := func(s *session) string {
		var jobs []string
		for _, j := range s.jobs {
			jobs = append(jobs, fmt.Sprintf("%s as generation %d", j.kind.request(), j.generation))
		}
		return fmt.Sprintf("%d tables, jobs %v, %s", len(s.tables), jobs, toldOf(s.syncer.Status().Tables))
	}
	admit := func(change func(s *session, of *table, g *generation)) func(context.Context, *session, *table) (any, error) {
		return func(ctx context.Context, s *session, of *table) (any, error) {
			s.syncer.haltedRetried = true
			found, err := s.store.generations(ctx)
			if err != nil {
				return nil, err
			}
			g := found[of.layout.name()]
			if change != nil {
				change(s, of, &g)
			}
			err = s.admit(ctx, of, g, true)
			return seen(s), err
		}
	}
	halts := func(g generation, failure error) func(context.Context, *session, *table) (any, error) {
		return func(ctx context.Context, s *session, of *table) (any, error) {
			other := memoryTable(t, sizeOnly(3))
			other.layout.publication.Policy.Table.Relation = "others"
			s.tables = []*table{of, other}
			if halt := (*TableError)(nil); errors.As(failure, &halt) {
				halt.Table = of.layout.name()
			}
			err := s.haltAgain(ctx, of, g, failure)
			return fmt.Sprintf("%s; %s", s.tables[0].layout.name(), seen(s)), err
		}
	}
	what := &TableError{What: "what", Fix: "fix"}
	holdConversations(t, "admission.txt", []conversation{
		{name: "halted for the same", do: halts(generation{halted: "what", fix: "fix"}, what)},
		{name: "halted for the same with another fix", do: halts(generation{halted: "what", fix: "other"}, what)},
		{name: "halted for another reason", do: halts(generation{halted: "other", fix: "fix"}, what)},
		{name: "halted for the same, but asked for", do: halts(generation{halted: "what", fix: "fix", asked: askResync}, what)},
		{name: "halted for an error", do: halts(generation{}, refusedBy("23505"))},
		{name: "an error that passes", do: halts(generation{}, refusedBy("40001"))},
		{name: "halted for a right that is missing elsewhere", do: halts(generation{}, refusedBy("42501"))},
		{name: "halted for a right, and dropped meanwhile", do: halts(generation{}, refusedBy("42501")), answers: []answer{{words: "LIMIT 0", state: "42P01"}}},
		{name: "halted for the right to read", do: halts(generation{}, refusedBy("42501")), answers: []answer{{words: "LIMIT 0", state: "42501"}}},
		{name: "made when identifying columns counted", do: admit(func(_ *session, of *table, _ *generation) {
			of.layout.digest, of.layout.former = "now", of.layout.digest
		})},
		{name: "not applied, to be rebuilt", do: admit(func(_ *session, _ *table, g *generation) { g.lsn, g.asked = 0, askRebuild })},
		{name: "halted, to be rebuilt", do: admit(func(_ *session, _ *table, g *generation) { g.halted, g.asked = "why", askRebuild })},
		{name: "halted, to be compared", do: admit(func(_ *session, _ *table, g *generation) { g.halted, g.asked = "why", askResync })},
		{name: "guarded, with another label", do: admit(func(_ *session, of *table, g *generation) {
			of.layout.publication.Policy.Updates.Mode = catalog.Guarded
			g.definition = definition{rest: "rest", labels: []string{"gone"}}.text()
		})},
		{name: "guarded, with another label, to be rebuilt", do: admit(func(_ *session, of *table, g *generation) {
			of.layout.publication.Policy.Updates.Mode = catalog.Guarded
			g.asked, g.definition = askRebuild, definition{rest: "rest", labels: []string{"gone"}}.text()
		})},
		{name: "shown later", do: admit(func(_ *session, _ *table, g *generation) { g.shows, g.previous = 300, 2 })},
	})
}
