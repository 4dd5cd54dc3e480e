package sync

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// TestStatementsOfAStart follows how a process finds its position, and recovers from losses.
func TestStatementsOfAStart(t *testing.T) {
	t.Parallel()
	find := func(ctx context.Context, s *session, _ *table) (any, error) {
		err := s.findPosition(ctx)
		return fmt.Sprintf("epoch %d at %s", s.store.epoch, s.position), err
	}
	blind := func(ctx context.Context, s *session, of *table) (any, error) {
		s.syncer.setUnreadable(true)
		seen, err := find(ctx, s, of)
		return fmt.Sprint(seen, ", unreadable: ", s.syncer.unreadable()), err
	}
	asked := func(ctx context.Context, s *session, of *table) (any, error) {
		s.syncer.config.Recovery = StopOnLoss
		return find(ctx, s, of)
	}
	slot := func(lost bool, values ...any) answer {
		return answer{words: "FROM pg_catalog.pg_replication_slots s WHERE slot_name", rows: [][]any{append([]any{lost, ""}, values...)}}
	}
	noSlot := answer{words: "FROM pg_catalog.pg_replication_slots s WHERE slot_name"}
	position := func(lsn, system string, timeline int) answer {
		return answer{words: "SELECT epoch, lsn::text", rows: [][]any{{5, lsn, system, timeline, "", 0}}}
	}
	nothing := answer{words: "SELECT epoch, lsn::text"}
	publication := func(there bool) answer {
		return answer{words: "FROM pg_catalog.pg_publication WHERE", rows: [][]any{{there}}}
	}
	all := func(asked bool) answer { return answer{words: "bool_and(asked IS NOT NULL)", rows: [][]any{{asked}}} }
	holdConversations(t, "start.txt", []conversation{
		{name: "go on", do: find},
		{name: "another process goes on", do: find, answers: []answer{{words: "SET epoch = epoch + 1"}}},
		{name: "the first time", do: find, answers: []answer{nothing, noSlot}},
		{name: "with a slot alone", do: find, answers: []answer{nothing}},
		{name: "with a slot alone that is lost", do: find, answers: []answer{nothing, slot(true, "pgoutput", "hospital", "0/5A"), publication(true)}},
		{name: "a slot of something else", do: find, answers: []answer{slot(false, "test_decoding", "hospital", "0/5A")}},
		{name: "the slot is gone", do: find, answers: []answer{noSlot}},
		{name: "the slot is lost", do: find, answers: []answer{slot(true, "pgoutput", "hospital", "0/5A"), publication(true)}},
		{name: "the slot is lost, and there is no publication", do: find, answers: []answer{slot(true, "pgoutput", "hospital", "0/5A"), publication(false)}},
		{name: "the slot is ahead", do: find, answers: []answer{slot(false, "pgoutput", "hospital", "0/65")}},
		{name: "the slot cannot be read", do: blind, answers: []answer{publication(true)}},
		{name: "a promoted standby", do: find, answers: []answer{position("0/64", "this", 1)}},
		{name: "a promoted standby without the slot", do: find, answers: []answer{position("0/64", "this", 1), noSlot}},
		{name: "a copied database", do: find, answers: []answer{position("0/64", "other", 2)}},
		{name: "a copied database, to be asked for", do: asked, answers: []answer{position("0/64", "other", 2), all(false)}},
		{name: "a copied database that was asked for", do: asked, answers: []answer{position("0/64", "other", 2), all(true)}},
		{name: "a promoted standby, to be asked for", do: asked, answers: []answer{position("0/64", "this", 1), all(false)}},
		{name: "whose store", do: func(ctx context.Context, s *session, _ *table) (any, error) { return nil, s.store.checkOwnership(ctx) }},
		{
			name: "the store of another slot", do: func(ctx context.Context, s *session, _ *table) (any, error) { return nil, s.store.checkOwnership(ctx) },
			answers: []answer{{words: "SELECT slot FROM kproxy_store.position", rows: [][]any{{"slot_b"}}}},
		},
		{
			name: "a publication of the store", do: func(ctx context.Context, s *session, _ *table) (any, error) { return nil, s.store.checkPublished(ctx) },
			answers: []answer{{words: "SELECT EXISTS (SELECT FROM pg_catalog.pg_publication_tables", rows: [][]any{{true}}}},
		},
		{name: "move", do: func(ctx context.Context, s *session, _ *table) (any, error) {
			return nil, within(ctx, s, func(tx pgx.Tx) error { return s.store.movePosition(ctx, tx, 100, 200) })
		}},
		{name: "move what another process moves", do: func(ctx context.Context, s *session, _ *table) (any, error) {
			return nil, within(ctx, s, func(tx pgx.Tx) error { return s.store.movePosition(ctx, tx, 100, 200) })
		}, answers: []answer{{words: "UPDATE kproxy_store.position SET lsn"}}},
	})
}

// TestStatementsOfTheOneThatApplies follows how a process comes to apply, by the lock and by its
// policy, and what it tells while another one does.
func TestStatementsOfTheOneThatApplies(t *testing.T) {
	t.Parallel()
	locked := func(is string) answer { return answer{words: "pg_try_advisory_lock", rows: [][]any{{is}}} }
	left := func(n int) answer {
		return answer{words: "SELECT count(pg_catalog.pg_terminate_backend", rows: [][]any{{n}}}
	}
	unlocked := answer{words: "SELECT pg_catalog.pg_advisory", rows: [][]any{{"t"}}}
	mine := Policy{Fingerprint: "mine", Text: []byte("{}"), Place: "here"}
	standing := func(number int, fingerprint, place string, was int) []answer {
		return []answer{
			{words: "SELECT number, fingerprint", rows: [][]any{{number, fingerprint, "{}", place, time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)}}},
			{words: "SELECT coalesce(max(number), 0)", rows: [][]any{{was}}},
		}
	}
	status := func(s *session) string {
		now := s.syncer.Status()
		return fmt.Sprintf("state %s, reason %q, fix %q, refused %q, in force %d, position %s, tables [%s]; followed %t, applies %t, by the operator %t",
			now.State, now.Reason, now.Fix, now.Refused, now.InForce, now.Position, toldOf(now.Tables), s.syncer.followed, s.syncer.applies, s.syncer.byOperator)
	}
	follow := func(ctx context.Context, s *session, _ *table) (any, error) {
		s.syncer.applies, s.syncer.byOperator, s.syncer.undecodable = true, true, true
		s.unfit = []catalog.Name{{Schema: "public", Relation: "unfit"}}
		s.syncer.status.Tables[catalog.Name{Relation: "before"}] = TableStatus{}
		err := s.follow(ctx)
		return fmt.Sprint(status(s), ", blind ", s.syncer.undecodable), err
	}
	refused := func(ctx context.Context, s *session, of *table) (any, error) {
		s.syncer.status.Refused, s.syncer.status.InForce = "its policy is old", 4
		return follow(ctx, s, of)
	}
	try := func(ctx context.Context, s *session, _ *table) (any, error) { return s.tryLock(ctx) }
	by := func(p Policy, told bool, do func(ctx context.Context, s *session) (any, error)) func(context.Context, *session, *table) (any, error) {
		return func(ctx context.Context, s *session, _ *table) (any, error) {
			s.syncer.whole, s.syncer.byOperator = p, told
			seen, err := do(ctx, s)
			return fmt.Sprint(seen, "; ", status(s)), err
		}
	}
	may := func(ctx context.Context, s *session) (any, error) { return s.syncer.mayApply(ctx, s.store.conn) }
	take := func(ctx context.Context, s *session) (any, error) { return s.syncer.takeOn(ctx, s.store.conn) }
	lead := func(ctx context.Context, s *session) (any, error) { return nil, s.becomeApplier(ctx) }
	holdConversations(t, "apply.txt", []conversation{
		{name: "lock", do: try, answers: []answer{locked("t")}},
		{name: "lock in vain", do: try, answers: []answer{locked("f")}},
		{name: "lock without an answer", do: try},
		{name: "move the lock", answers: []answer{unlocked}, do: func(ctx context.Context, s *session, _ *table) (any, error) {
			next, err := s.syncer.openReplication(ctx, ApplierName(s.syncer.config.Slot))
			if err != nil {
				return nil, err
			}
			before := s.replication
			err = s.moveLock(ctx, next)
			return fmt.Sprintf("moved %t, closed %t", s.replication == next, before.IsClosed()), err
		}},
		{name: "lead", do: by(Policy{}, false, lead), answers: []answer{left(0)}},
		{name: "lead by a policy", do: by(mine, true, lead), answers: append(standing(3, "mine", "here", 3), left(0))},
		{name: "lead by one that is refused", do: by(mine, false, lead), answers: append(standing(3, "other", "here", 2), left(0))},
		{name: "await", do: func(ctx context.Context, s *session, _ *table) (any, error) {
			err := s.awaitLock(ctx)
			return status(s), err
		}, answers: []answer{left(0), locked("t")}},
		{name: "depose", do: func(ctx context.Context, s *session, _ *table) (any, error) { return nil, s.store.depose(ctx) }},
		{name: "follow", do: follow},
		{name: "follow what is not published", do: follow, answers: []answer{{words: "SELECT table_schema, table_name, generation, policy_digest"}, {words: "SELECT epoch, lsn::text"}}},
		{name: "follow another policy", do: follow, answers: []answer{stored(t, func(g *generation) { g.digest = "other" })}},
		{name: "follow, as the policy is refused", do: refused, answers: []answer{stored(t, func(g *generation) { g.digest = "other" })}},
		{name: "follow what is halted", do: follow, answers: []answer{stored(t, func(g *generation) { g.digest, g.halted, g.fix = "other", "why", "how" })}},
		{name: "no policy", do: by(Policy{}, false, may)},
		{name: "a first policy", do: by(mine, false, may), answers: []answer{{words: "SELECT number, fingerprint"}}},
		{name: "the policy in force", do: by(mine, false, may), answers: standing(3, "mine", "there", 3)},
		{name: "an edited policy", do: by(mine, false, may), answers: standing(3, "other", "here", 0)},
		{name: "a policy of elsewhere", do: by(mine, false, may), answers: standing(3, "other", "there", 0)},
		{name: "a superseded policy", do: by(mine, false, may), answers: standing(3, "other", "here", 2)},
		{name: "a superseded policy, by the operator", do: by(mine, true, may), answers: standing(3, "other", "here", 2)},
		{name: "take on none", do: by(Policy{}, false, take)},
		{name: "take on the first", do: by(mine, true, take), answers: []answer{{words: "SELECT number, fingerprint"}}},
		{name: "take on the policy in force", do: by(mine, true, take), answers: standing(3, "mine", "there", 3)},
		{name: "take on another", do: by(mine, true, take), answers: standing(3, "other", "there", 1)},
		{name: "take on a refused one", do: by(mine, false, take), answers: standing(3, "other", "there", 1)},
	})
}
