package sync

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
)

// TestStatementsBesideTheStream follows what is looked at, asked for and answered while the stream
// is applied.
func TestStatementsBesideTheStream(t *testing.T) { //nolint:funlen // a list
	t.Parallel()
	look := func(do func(ctx context.Context, w *watcher, of *table) error) func(context.Context, *session, *table) (any, error) {
		return func(ctx context.Context, s *session, of *table) (any, error) {
			s.tables, s.syncer.tables = []*table{of}, []catalog.Publication{of.layout.publication}
			of.definition.root, of.definition.leaves, of.definition.states, of.definition.rest = 1000, []uint32{1000}, []string{"file 1"}, "rest"
			of.definition.labels = []string{}
			s.watch()
			w := newWatcher(s)
			w.store.conn, w.store.source = s.store.conn, s.store.source
			err := do(ctx, w, of)
			select {
			case f := <-w.found:
				return fmt.Sprintf("%s at %s: %v", f.table, f.at, f.err), err
			default:
				return nil, err
			}
		}
	}
	definitions := look(func(ctx context.Context, w *watcher, _ *table) error { return w.checkDefinitions(ctx) })
	wishes := func(preparing bool) func(context.Context, *session, *table) (any, error) {
		return look(func(ctx context.Context, w *watcher, of *table) error {
			w.syncer.whole = Policy{Fingerprint: "mine", Place: "here"}
			w.syncer.status.Tables[of.layout.name()] = TableStatus{Preparing: preparing}
			return w.checkRequests(ctx)
		})
	}
	looked := func(state TableState, known catalog.OID) func(context.Context, *session, *table) (any, error) {
		return look(func(ctx context.Context, w *watcher, of *table) error {
			w.syncer.status.Tables[of.layout.name()] = TableStatus{State: state}
			w.syncer.tables[0].Relation.OID *= known
			return w.checkHalted(ctx)
		})
	}
	halted := looked(Halted, 1)
	slot := look(func(ctx context.Context, w *watcher, _ *table) error {
		w.beat = time.Time{}
		var announced []SlotStatus
		w.syncer.config.Changed = func(s Status) { announced = append(announced, s.Slot) }
		if err := w.checkSlot(ctx); err != nil {
			return err
		}
		if got := w.syncer.Status().Slot; got.Retained != 500 || got.WALStatus != "reserved" {
			return fmt.Errorf("the slot is %+v", got)
		}
		if len(announced) != 1 || announced[0].Retained != 500 {
			return fmt.Errorf("announced are %+v", announced)
		}
		return w.checkSlot(ctx) // not so soon
	})
	changed := func(change func(row []any)) answer {
		row := relationRow(boundTable(t))
		change(row)
		return answer{words: "What a relation is:", rows: [][]any{row}}
	}
	grown := changed(func(row []any) {
		row[2], row[3], row[4] = []uint32{1000, 1001}, []string{"file 1", "file 2"}, []int64{7, 8}
	})
	end := answer{words: "SELECT pg_catalog.pg_current_wal_insert_lsn", rows: [][]any{{"0/C8"}}}
	size := func(n int) answer {
		return answer{words: "SELECT coalesce(pg_catalog.pg_relation_size($1", rows: [][]any{{n}}}
	}
	asked := answer{words: "WHERE asked IS NOT NULL", rows: [][]any{{"public", "visits"}}}
	measured := func(end int) answer {
		return answer{words: "pg_wal_lsn_diff", rows: [][]any{{500, "reserved", end}}}
	}
	tables := func(of *table) []catalog.Name { return []catalog.Name{of.layout.name()} }
	found := func(n int) answer { return answer{words: "WITH asked AS", rows: [][]any{{n}}} }
	free := func(is bool) answer {
		return answer{words: "pg_try_advisory_xact_lock", rows: [][]any{{is}}}
	}
	applied := func(do func(ctx context.Context, a *applier, of *table) (any, error)) func(context.Context, *session, *table) (any, error) {
		return func(ctx context.Context, s *session, of *table) (any, error) {
			a := memoryApplier()
			a.use(s)
			s.tables = []*table{of}
			return do(ctx, a, of)
		}
	}
	renewals := []answer{{words: "SELECT id, table_schema, table_name FROM kproxy_store.renewal", rows: [][]any{{8, "public", "visits"}}}}
	holdConversations(t, "beside.txt", []conversation{
		{name: "nothing has changed", do: definitions},
		{name: "another definition", do: definitions, answers: []answer{changed(func(row []any) { row[7] = "other" }), end}},
		{name: "an empty partition has come", do: definitions, answers: []answer{grown, size(0), end}},
		{name: "a partition with rows has come", do: definitions, answers: []answer{grown, size(1), end}},
		{name: "nobody asks", do: wishes(false)},
		{name: "the operator asks", do: wishes(false), answers: []answer{asked}},
		{name: "the operator asks for what is prepared", do: wishes(true), answers: []answer{asked}},
		{name: "another policy is in force", do: wishes(true), answers: []answer{{words: "SELECT coalesce(max(number), 0)", rows: [][]any{{2}}}}},
		{name: "a halted table has healed", do: halted, answers: []answer{stored(t, func(g *generation) { g.halted, g.heals = "why", true })}},
		{name: "a table that is not halted", do: looked(Published, 1)},
		{name: "a halted table that the configuration did not find", do: looked(Halted, 0)},
		{name: "a halted table has not healed", do: halted, answers: []answer{stored(t, func(g *generation) { g.halted, g.heals = "why", true }), changed(func(row []any) { row[8] = false })}},
		{
			name: "a halted table may still not be read", do: halted,
			answers: []answer{stored(t, func(g *generation) { g.halted, g.heals = "why", true }), {words: "LIMIT 0", state: "42501"}},
		},
		{name: "a table that was halted before it was published has healed", do: halted, answers: []answer{stored(t, func(g *generation) {
			g.number, g.digest, g.halted, g.heals = markNumber, "", "why", true
		})}},
		{name: "a halted table does not heal", do: halted, answers: []answer{stored(t, func(g *generation) { g.halted = "why" })}},
		{name: "a halted table of another policy", do: halted, answers: []answer{stored(t, func(g *generation) { g.halted, g.heals, g.digest = "why", true, "other" })}},
		{name: "a halted table that is not there", do: halted, answers: []answer{{words: "SELECT table_schema, table_name, generation, policy_digest"}}},
		{name: "the slot is behind", do: slot, answers: []answer{measured(200)}},
		{name: "the slot is not behind", do: slot, answers: []answer{measured(100)}},
		{name: "ask for a release", do: func(ctx context.Context, s *session, of *table) (any, error) {
			return nil, Rebuild(ctx, s.syncer.config.Owner, s.syncer.config.Slot, tables(of))
		}, answers: []answer{found(1)}},
		{name: "ask for differences", do: func(ctx context.Context, s *session, _ *table) (any, error) {
			return nil, Resynchronize(ctx, s.syncer.config.Owner, s.syncer.config.Slot, nil)
		}, answers: []answer{found(0)}},
		{name: "ask for what was never published", do: func(ctx context.Context, s *session, of *table) (any, error) {
			return nil, Rebuild(ctx, s.syncer.config.Owner, s.syncer.config.Slot, tables(of))
		}, answers: []answer{found(0)}},
		{name: "go on from here", do: func(ctx context.Context, s *session, _ *table) (any, error) {
			return nil, Continues(ctx, s.store.conn, s.store.source, s.syncer.config.Slot, "this", StopOnLoss)
		}},
		{name: "go on from elsewhere", do: func(ctx context.Context, s *session, _ *table) (any, error) {
			return nil, Continues(ctx, s.store.conn, s.store.source, s.syncer.config.Slot, "other", StopOnLoss)
		}, answers: []answer{{words: "bool_and(asked IS NOT NULL)", rows: [][]any{{false}}}}},
		{name: "re-anonymize", do: func(ctx context.Context, s *session, of *table) (any, error) {
			return Reanonymize(ctx, s.syncer.config.Owner, nil, s.syncer.config.Slot, tables(of), true, func([]Renewed) {})
		}, answers: []answer{free(false), {words: "INSERT INTO kproxy_store.renewal", rows: [][]any{{8}}}, {words: "FROM kproxy_store.renewal WHERE id", rows: [][]any{{"public", "visits", 9, true, 0.5, 0.25, true, ""}}}}},
		{name: "re-anonymize, and do not wait", do: func(ctx context.Context, s *session, of *table) (any, error) {
			return Reanonymize(ctx, s.syncer.config.Owner, nil, s.syncer.config.Slot, tables(of), false, nil)
		}, answers: []answer{free(false), {words: "INSERT INTO kproxy_store.renewal", rows: [][]any{{8}}}}},
		{name: "re-anonymize where nobody applies", do: func(ctx context.Context, s *session, of *table) (any, error) {
			return Reanonymize(ctx, s.syncer.config.Owner, nil, s.syncer.config.Slot, tables(of), true, nil)
		}, answers: []answer{free(true)}},
		{name: "re-anonymize where one is only starting", do: func(ctx context.Context, s *session, of *table) (any, error) {
			return Reanonymize(ctx, s.syncer.config.Owner, nil, s.syncer.config.Slot, tables(of), true, nil)
		}, answers: []answer{free(false), {words: "DELETE FROM kproxy_store.renewal", state: "42P01"}}},
		{name: "look for requests", do: applied(func(ctx context.Context, a *applier, of *table) (any, error) {
			a.renewer.running = &renewal{mode: of.mode.(*immediate), request: 7}
			a.renewer.running.done.Store(5)
			a.renewer.requests = []request{{id: 6, table: of.layout.name()}}
			err := a.renewer.exchange(ctx)
			return a.renewer.requests, err
		}), answers: renewals},
		{name: "look for further requests", do: applied(func(ctx context.Context, a *applier, of *table) (any, error) {
			a.renewer.requests = []request{{id: 6, table: of.layout.name()}}
			err := a.renewer.exchange(ctx)
			return a.renewer.requests, err
		}), answers: renewals},
		{name: "look for requests in vain", do: applied(func(ctx context.Context, a *applier, _ *table) (any, error) {
			return a.renewer.requests, a.renewer.readRequests(ctx)
		}), spares: []string{"kproxy_store.renewal"}},
		{name: "look for requests in the midst of a group", do: applied(func(ctx context.Context, a *applier, _ *table) (any, error) {
			a.writer.spilled = memoryTx{}
			err := a.renewer.readRequests(ctx)
			a.writer.spilled, a.writer.batches = nil, []*batch{{}}
			return a.renewer.readDue, errors.Join(err, a.renewer.readRequests(ctx))
		}), answers: renewals},
		{name: "attached", do: applied(func(ctx context.Context, a *applier, of *table) (any, error) {
			found, err := a.relations.attached(ctx, 1001)
			return found == of, err
		}), answers: []answer{{words: "pg_partition_root", rows: [][]any{{1000}}}}},
		{name: "attached to another", do: applied(func(ctx context.Context, a *applier, _ *table) (any, error) {
			found, err := a.relations.attached(ctx, 1001)
			return found == nil, err
		}), answers: []answer{{words: "pg_partition_root", rows: [][]any{{999}}}}},
		{name: "adopt", do: applied(func(ctx context.Context, a *applier, of *table) (any, error) {
			err := a.relations.adopt(ctx, finding{table: of.layout.name(), definition: definition{root: 1000, rest: "other", bound: of.definition.bound}})
			return fmt.Sprint(of.definition.rest, a.session.shared.watching.Load() != nil), err
		})},
		{name: "withdraw", do: applied(func(ctx context.Context, a *applier, of *table) (any, error) {
			err := a.joiner.withdraw(ctx, of, &TableError{Table: of.layout.name(), What: "what", resync: true})
			return fmt.Sprintf("%d tables, %d jobs, working %t; %s", len(a.session.tables), len(a.session.jobs), a.joiner.preparing, toldOf(a.session.syncer.Status().Tables)), err
		})},
		{name: "join", do: applied(func(ctx context.Context, a *applier, of *table) (any, error) {
			a.session.position, a.session.tables = 100, nil
			of.release.position = 100
			a.session.jobs = []job{{publication: of.layout.publication, kind: publishAfresh, generation: 7}}
			a.relations.known[1000] = &relation{message: &pglogrepl.RelationMessage{RelationID: 1000, Namespace: "public", RelationName: "visits"}}
			err := a.join(ctx, &preparedTable{job: a.session.jobs[0], table: of, at: 100})
			return fmt.Sprintf("%d tables, %d jobs, at %s, shown from %s, its rows are known %t",
				len(a.session.tables), len(a.session.jobs), a.session.position, of.release.showAt, a.relations.known[1000].table == of), err
		})},
		{name: "join for the first time", do: applied(func(ctx context.Context, a *applier, of *table) (any, error) {
			a.session.position, a.session.tables = 100, nil
			a.session.jobs = []job{{publication: of.layout.publication, kind: publishAfresh, generation: 7}, {publication: of.layout.publication}}
			a.session.shared.ack.held.Store(90)
			err := a.join(ctx, &preparedTable{job: a.session.jobs[0], table: of, at: 90})
			return fmt.Sprintf("%d tables, %d jobs, at %s, shown from %s, held %d, working %t, watched %t; %s", len(a.session.tables), len(a.session.jobs), a.session.position, of.release.showAt, a.session.shared.ack.held.Load(), a.joiner.preparing,
				a.session.shared.watching.Load() != nil, toldOf(a.session.syncer.Status().Tables)), err
		}), answers: []answer{{words: "SELECT table_schema, table_name, generation, policy_digest"}}},
		{name: "join after a comparison", do: applied(func(ctx context.Context, a *applier, of *table) (any, error) {
			a.session.position, a.session.tables = 100, nil
			a.session.jobs = []job{{publication: of.layout.publication, kind: resynchronize}}
			err := a.join(ctx, &preparedTable{job: a.session.jobs[0], table: of, at: 120})
			return fmt.Sprintf("%d tables, %d jobs, at %s, table at %s", len(a.session.tables), len(a.session.jobs), a.session.position, of.release.position), err
		})},
		{name: "join in vain", do: applied(func(ctx context.Context, a *applier, of *table) (any, error) {
			a.session.jobs = []job{{publication: of.layout.publication}, {publication: of.layout.publication}}
			err := a.join(ctx, &preparedTable{job: a.session.jobs[0], err: &pgconn.PgError{Code: "42601", Message: "what"}})
			return fmt.Sprintf("%d jobs, working %t; %s", len(a.session.jobs), a.joiner.preparing, toldOf(a.session.syncer.Status().Tables)), err
		})},
		{name: "spill", do: applied(func(ctx context.Context, a *applier, of *table) (any, error) {
			if err := of.insert(of.layout.visitOf(1, 30, nil)); err != nil {
				return nil, err
			}
			err := a.writer.spill(ctx, of)
			return fmt.Sprintf("spilled %t, open %t", of.pending.spilled, a.writer.spilled != nil), err
		})},
		{name: "show", do: applied(func(ctx context.Context, a *applier, of *table) (any, error) {
			err := within(ctx, a.session, func(tx pgx.Tx) error { return a.writer.tryShow(ctx, tx, []*table{of}, a.session.making()) })
			return of.release.shown, err
		})},
		{name: "show while readers wait", do: applied(func(ctx context.Context, a *applier, of *table) (any, error) {
			err := within(ctx, a.session, func(tx pgx.Tx) error { return a.writer.tryShow(ctx, tx, []*table{of}, a.session.making()) })
			return fmt.Sprint(of.release.shown, of.release.postponed.IsZero()), err
		}), answers: []answer{{words: "CREATE OR REPLACE", state: lockNotAvailable}}},
	})
}
