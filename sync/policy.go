package sync

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// The store keeps the policies that the operator has accepted, numbered, and the last one is
// in force. A process that has another one follows, and publishes nothing by it: it may be a
// forgotten one, with an older and weaker policy. A policy is accepted when it is the first;
// when the process that applies takes it over by a reload; by 'kproxy accept'; and when the
// process that begins to apply has it from the very file, on the very machine, from which
// the one in force was accepted, and it was never in force before: then the operator has
// edited that file. One that was in force before has been superseded, wherever it is found.

// Policy is the whole policy of a configuration. The zero Policy is not compared with what
// was accepted.
type Policy struct {
	// Fingerprint stands for Text.
	Fingerprint string
	// Text is the policy as JSON.
	Text []byte
	// Place is the machine and the file that it was read from.
	Place string
}

// NewPolicy is the policy that was read at a place.
func NewPolicy(p catalog.Policy, place string) (Policy, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return Policy{}, fmt.Errorf("taking the fingerprint of the policy: %w", err)
	}
	sum := sha256.Sum256(text)
	return Policy{Fingerprint: hex.EncodeToString(sum[:]), Text: text, Place: place}, nil
}

// AcceptedPolicy is one that was in force, or is.
type AcceptedPolicy struct {
	Number      int64 // from 1 on; that of the one in force is the greatest
	Fingerprint string
	Text        []byte
	Place       string
	At          time.Time
}

// Standing is how a policy stands to what was accepted.
type Standing struct {
	// InForce is the policy in force; its number is 0 where there is none.
	InForce AcceptedPolicy
	// Was is the last number that the policy itself had; 0 where it was never in force.
	Was int64
	own bool
	at  string // the policy's place
}

// StandingOf compares a policy with what was accepted. The connection is the owner's.
func StandingOf(ctx context.Context, on querier, p Policy) (s Standing, err error) {
	s.at = p.Place
	err = on.QueryRow(ctx, "SELECT number, fingerprint, policy::text, place, accepted_at FROM kproxy_store.policy ORDER BY number DESC LIMIT 1").
		Scan(&s.InForce.Number, &s.InForce.Fingerprint, &s.InForce.Text, &s.InForce.Place, &s.InForce.At)
	if errors.Is(err, pgx.ErrNoRows) {
		return s, nil
	}
	if err == nil {
		err = on.QueryRow(ctx, "SELECT coalesce(max(number), 0) FROM kproxy_store.policy WHERE fingerprint = $1", p.Fingerprint).Scan(&s.Was)
	}
	if err != nil {
		return s, fmt.Errorf("reading which policy is in force: %w", err)
	}
	s.own = s.InForce.Fingerprint == p.Fingerprint
	return s, nil
}

// IsInForce tells whether the policy is the one in force.
func (s Standing) IsInForce() bool { return s.own }

// IsRefused tells whether a process that has the policy may not apply by itself.
func (s Standing) IsRefused() bool {
	return s.InForce.Number != 0 && !s.own && (s.Was != 0 || s.InForce.Place != s.at)
}

// Problem says to the operator why the policy is refused.
func (s Standing) Problem() string {
	if s.Was != 0 {
		return fmt.Sprintf("its policy is number %d, which number %d has superseded (accepted at %s from %s)",
			s.Was, s.InForce.Number, s.InForce.At.UTC().Format(time.DateTime), s.InForce.Place)
	}
	return fmt.Sprintf("its policy was never accepted, and number %d is in force (accepted at %s from %s)",
		s.InForce.Number, s.InForce.At.UTC().Format(time.DateTime), s.InForce.Place)
}

// FixPolicyRefused is what the operator can do about a policy that is refused.
const FixPolicyRefused = "give this process the policy in force, or run 'kproxy accept', which shows the difference, with the configuration that is to be in force"

// AcceptPolicy puts a policy in force, unless it is already, and returns its number. Whoever
// applies by another one can write no more.
func AcceptPolicy(ctx context.Context, on beginner, p Policy) (number int64, err error) {
	err = pgx.BeginFunc(ctx, on, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "LOCK TABLE kproxy_store.policy IN EXCLUSIVE MODE"); err != nil {
			return err
		}
		now, err := StandingOf(ctx, tx, p)
		if err != nil || now.own {
			number = now.InForce.Number
			return err
		}
		number = now.InForce.Number + 1
		_, err = tx.Exec(ctx, "INSERT INTO kproxy_store.policy (number, fingerprint, policy, place) VALUES ($1, $2, $3::text::jsonb, $4)",
			number, p.Fingerprint, string(p.Text), p.Place)
		if err == nil {
			_, err = tx.Exec(ctx, "UPDATE kproxy_store.position SET epoch = epoch + 1")
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("accepting the policy: %w", err)
	}
	return number, nil
}

// policyNow is the policy of the configuration, and whether the operator has had the process
// that applies take it over.
func (s *Syncer) policyNow() (p Policy, told bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.whole, s.byOperator
}

// mayApply tells whether the process may apply by its policy. What it says of one that is
// not to be refused is not accepted yet: see takeOn.
func (s *Syncer) mayApply(ctx context.Context, conn *pgx.Conn) (bool, error) {
	p, told := s.policyNow()
	if p.Fingerprint == "" {
		return true, nil
	}
	standing, err := StandingOf(ctx, conn, p)
	if err != nil {
		return false, err
	}
	refused := standing.IsRefused() && !told
	s.mu.Lock()
	s.status.Refused = ""
	if refused {
		s.status.Refused, s.status.InForce = standing.Problem(), standing.InForce.Number
	}
	s.mu.Unlock()
	return !refused, nil
}

// takeOn has the policy accepted by which this process begins to apply; false where it may
// not.
func (s *Syncer) takeOn(ctx context.Context, conn *pgx.Conn) (bool, error) {
	may, err := s.mayApply(ctx, conn)
	p, _ := s.policyNow()
	if err != nil || !may || p.Fingerprint == "" {
		return may, err
	}
	standing, err := StandingOf(ctx, conn, p)
	if err != nil {
		return false, err
	}
	number, err := AcceptPolicy(ctx, conn, p)
	if err != nil {
		return false, err
	}
	if number != standing.InForce.Number {
		s.config.Logger.Info("the policy of the configuration is accepted", "policy", number, "place", p.Place)
	}
	s.mu.Lock()
	s.byOperator = false
	s.mu.Unlock()
	return true, nil
}
