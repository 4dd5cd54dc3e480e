package sync

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"reflect"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
)

// TestLossIsAssessed puts every state of a slot beside every state of the store. Changes are
// taken for lost unless the slot is whole, has not let go of anything that the store lacks,
// and server and timeline are those that the store was written on.
func TestLossIsAssessed(t *testing.T) {
	t.Parallel()
	const stored = pglogrepl.LSN(500)
	yesNo := []bool{false, true}
	for _, known := range yesNo {
		for _, blind := range yesNo {
			for _, exists := range yesNo {
				for _, lost := range yesNo {
					for _, confirmed := range []pglogrepl.LSN{stored - 1, stored, stored + 1} {
						for _, system := range []string{"this", "other"} {
							for _, timeline := range []int64{0, 1, 2} {
								if lost && !exists {
									continue
								}
								s := &session{store: store{slot: "slot", system: "this", timeline: 2}}
								slot := slotState{exists: exists, lost: lost, confirmed: confirmed}
								l := s.store.assess(slot, storedPosition{lsn: stored, system: system, timeline: timeline}, known, blind)
								state := fmt.Sprintf("known %t, blind %t, %+v, %s, timeline %d", known, blind, slot, system, timeline)
								if !known {
									if (l != nil) != lost || l != nil && (!l.drop || l.moved || l.continuous) {
										t.Errorf("%s: %+v", state, l)
									}
									continue
								}
								whole := !blind && exists && !lost && confirmed <= stored
								moved := system != "this" || timeline == 1
								if (l == nil) != (whole && !moved) {
									t.Errorf("%s: %+v", state, l)
								}
								if l == nil {
									continue
								}
								if l.what == "" || l.moved != moved || l.continuous != (whole && system == "this") || l.drop != (blind || lost) {
									t.Errorf("%s: %+v", state, l)
								}
							}
						}
					}
				}
			}
		}
	}
}

// TestWhoseSlot refuses a slot of another plugin or database.
func TestWhoseSlot(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		slot slotState
		own  bool
	}{
		{slotState{}, true},
		{slotState{exists: true, plugin: outputPlugin, database: "hospital"}, true},
		{slotState{exists: true, plugin: "test_decoding", database: "hospital"}, false},
		{slotState{exists: true, plugin: outputPlugin, database: "bank"}, false},
	} {
		if err := test.slot.checkForeign("slot", "hospital"); (err == nil) != test.own {
			t.Errorf("%+v: %v", test.slot, err)
		}
	}
}

// TestPolicyIsRefused puts a policy beside what was accepted: a process may apply by the one in
// force, by any where none is, and by one that was never in force and is from the place of the
// one in force.
func TestPolicyIsRefused(t *testing.T) {
	t.Parallel()
	for _, inForce := range []int64{0, 4} {
		for _, own := range []bool{false, true} {
			for _, was := range []int64{0, 2} {
				for _, place := range []string{"here", "there"} {
					s := Standing{InForce: AcceptedPolicy{Number: inForce, Place: "here", At: time.Now()}, Was: was, own: own, at: place}
					want := inForce == 0 || own || was == 0 && place == "here"
					if s.IsRefused() == want || s.IsInForce() != own {
						t.Errorf("%+v is refused: %t", s, s.IsRefused())
					}
				}
			}
		}
	}
}

// TestStatusOfTheStore tells what the store says of a table: that readers see it, only where
// its release fits the policy and is shown, or the one before it is.
func TestStatusOfTheStore(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		g         generation
		fits      bool
		state     TableState
		preparing bool
	}{
		{generation{}, true, Published, false},
		{generation{}, false, Unpublished, false},
		{generation{shows: 9}, true, Unpublished, true},
		{generation{shows: 9, previous: 2}, true, Published, true},
		{generation{shows: 9, previous: 2}, false, Unpublished, false},
		{generation{asked: askResync}, true, Published, true},
		{generation{noted: askRebuild}, true, Published, true},
		{generation{noted: askRebuild}, false, Unpublished, true},
		{generation{halted: "why", fix: "how", noted: askRebuild, shows: 9}, true, Halted, false},
		{generation{halted: "why", fix: "how", asked: askRebuild}, true, Halted, true},
	} {
		test.g.number, test.g.withheld, test.g.why = 5, 6, "few"
		of := layout{digest: "now", former: "before"}
		if test.fits {
			test.g.digest = "now"
		}
		got := test.g.status(of.visible(test.g, KeepStrong), test.fits)
		want := TableStatus{State: test.state, Preparing: test.preparing, Generation: 5, Withheld: 6, Reason: "few", Problem: test.g.halted, Fix: test.g.fix}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, fits %t: %+v", test.g, test.fits, got)
		}
	}
}

// TestHaltedTablesWait puts everything that is known of a halted table together: what the
// operator has asked for ends it in any case, consent is waited for whatever else has changed,
// and a table goes on by itself only where it was halted for what heals.
func TestHaltedTablesWait(t *testing.T) {
	t.Parallel()
	yesNo := []bool{false, true}
	for _, g := range []generation{{}, {halted: "why"}, {halted: "why", asked: askResync}, {asked: askRebuild}} {
		for _, g.consent = range yesNo {
			for _, g.heals = range yesNo {
				waits := g.halted != "" && g.asked == ""
				if g.mayHeal() != (waits && g.heals && !g.consent) {
					t.Errorf("%+v may heal: %t", g, g.mayHeal())
				}
				for _, fits := range yesNo {
					for _, afresh := range yesNo {
						want := waits
						if !g.consent && (!fits || afresh || g.heals) {
							want = false
						}
						if g.staysHalted(fits, afresh) != want {
							t.Errorf("%+v, fits %t, afresh %t, stays halted: %t", g, fits, afresh, !want)
						}
					}
				}
			}
		}
	}
}

// memoryOwner is a Syncer of a database.
func memoryOwner(database string) *Syncer {
	a := memoryApplier()
	a.session.syncer.config.Owner = &pgx.ConnConfig{}
	a.session.syncer.config.Owner.Database = database
	return a.session.syncer
}

// TestReload replaces a configuration: what is gone may be dropped, what has changed or gone
// is not published as it was wanted, what has stayed is, and the session is begun anew.
func TestReload(t *testing.T) {
	t.Parallel()
	table := func(name string, k int) catalog.Publication {
		p := memoryTable(t, sizeOnly(k)).layout.publication
		p.Policy.Table.Relation = name
		return p
	}
	named := func(name string) catalog.Name { return catalog.Name{Schema: "public", Relation: name} }
	s := memoryOwner("hospital")
	s.removed, s.haltedRetried, s.followed = map[catalog.Name]bool{named("back"): true}, true, true
	s.tables = []catalog.Publication{table("same", 3), table("changed", 3), table("looser", 3), table("gone", 3)}
	for _, p := range s.tables {
		s.status.Tables[p.Policy.Table] = TableStatus{State: Published}
	}
	var cause error
	s.leaving = newLeaving(func(err error) { cause = err })
	if s.applies = true; s.retryHalted() {
		t.Error("halted tables are looked at afresh before a reload")
	}
	s.ReloadAs([]catalog.Publication{table("same", 3), table("changed", 4), table("looser", 2), table("back", 3)}, Policy{Fingerprint: "new"}, true)
	if !errors.Is(cause, errReload) || !s.retryHalted() {
		t.Errorf("the session goes on: %v", cause)
	}
	want := map[catalog.Name]TableStatus{named("same"): {State: Published}, named("looser"): {State: Published, Preparing: true, Superseded: true}}
	if got := s.Status().Tables; !reflect.DeepEqual(got, want) {
		t.Errorf("readers may have %v", got)
	}
	for name, may := range map[string]bool{"same": false, "changed": false, "gone": true, "back": false, "never there": false} {
		if s.mayDrop(named(name)) != may {
			t.Errorf("%s may be dropped: %t", name, !may)
		}
	}
	if s.followed = false; !s.mayDrop(named("never there")) {
		t.Error("what nobody else has configured is not dropped")
	}
	if p, told := s.policyNow(); p.Fingerprint != "new" || !told || s.Policy().Fingerprint != "new" {
		t.Errorf("the policy is %v, told %t", p, told)
	}
	if s.Reload(nil); len(s.configured()) > 0 {
		t.Error("a table is left")
	}
	if _, told := s.policyNow(); !told {
		t.Error("what the operator has said of the policy is forgotten")
	}
	s.byOperator, s.applies = false, false
	s.ReloadAs(nil, Policy{}, true)
	if _, told := s.policyNow(); told {
		t.Error("a process that does not apply takes a policy over")
	}
}

// TestWhatPasses lists errors after which another attempt can succeed, and some that stay.
func TestWhatPasses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want bool
	}{
		{errors.New("unexpected EOF"), true},
		{&net.OpError{Op: "read", Err: errors.New("reset")}, true},
		{&pgconn.PgError{Code: "40001"}, true},
		{&pgconn.PgError{Code: "57P01"}, true},
		{&pgconn.PgError{Code: "53100"}, true},
		{&pgconn.PgError{Code: "25006"}, true},
		{&pgconn.PgError{Code: "25001"}, false},
		{&pgconn.PgError{Code: "23505"}, false},
		{&pgconn.PgError{Code: insufficientPrivilege}, false},
		{&StopError{}, false},
		{&TableError{Err: errors.New("unexpected EOF")}, false},
		{internal(&pgconn.PgError{Code: "40001"}), false},
	} {
		for _, err := range []error{test.err, fmt.Errorf("applying: %w", test.err)} {
			if transient(err) != test.want {
				t.Errorf("%v passes: %t", err, !test.want)
			}
		}
		// What an attempt would meet again concerns the table, unless it stops everything.
		of, stop, halt := memoryTable(t, sizeOnly(3)), (*StopError)(nil), (*TableError)(nil)
		blamed := tableFailure(of, test.err)
		if wants := !test.want && !errors.As(test.err, &stop); errors.As(blamed, &halt) != wants || wants && halt.Table != of.layout.name() && !errors.As(test.err, &halt) {
			t.Errorf("%v is blamed as %v", test.err, blamed)
		}
	}
}

// TestValuesAreNotTold has errors of the server lose what may quote a row, and keep what tells
// the operator of rights and resources.
func TestValuesAreNotTold(t *testing.T) {
	t.Parallel()
	for code, told := range map[string]bool{"23505": false, "22P02": false, "42601": false, "42501": true, "42703": true, "53100": true, "08006": true, "57014": true} {
		err := withoutValues(fmt.Errorf("writing: %w", &pgconn.PgError{Code: code, Message: "Key (name)=(Ann)", Detail: "Ann"}))
		if got := errors.As(err, new(*valueFreeError)); got == told {
			t.Errorf("%s: %v", code, err)
		}
		if server := (*pgconn.PgError)(nil); !errors.As(err, &server) || server.Code != code {
			t.Errorf("%s: the code is not found behind %v", code, err)
		}
	}
	if withoutValues(nil) != nil {
		t.Error("an error is made of none")
	}
}

// TestConnectionsArePinned makes connections after the owner's password has changed: they log
// in by the new one, and no setting of the role or of the configuration decides how values read.
func TestConnectionsArePinned(t *testing.T) {
	t.Parallel()
	s := memoryOwner("hospital")
	owner, err := pgx.ParseConfig("postgres://owner:new@localhost/hospital?datestyle=German&application_name=mine&kproxy.own=1")
	if err != nil {
		t.Fatal(err)
	}
	s.LogInAs(owner, nil, nil)
	c := s.connection(s.owner, "kproxy test")
	if c.Password != "new" || c.RuntimeParams["application_name"] != "kproxy test" || c.RuntimeParams["kproxy.own"] != "1" {
		t.Errorf("the connection logs in by %q with %v", c.Password, c.RuntimeParams)
	}
	for name, want := range sessionSettings {
		if c.RuntimeParams[name] != want {
			t.Errorf("%s is %q, not %q", name, c.RuntimeParams[name], want)
		}
	}
	if owner.RuntimeParams["datestyle"] != "German" || owner.RuntimeParams["application_name"] != "mine" {
		t.Error("the configuration itself was changed")
	}
}

// levels notes what is logged, and how loud.
type levels struct {
	slog.Handler
	logged *[]slog.Level
}

func (l levels) Enabled(context.Context, slog.Level) bool { return true }
func (l levels) Handle(_ context.Context, r slog.Record) error {
	*l.logged = append(*l.logged, r.Level)
	return nil
}

// TestFailedLooksAreWarnedOfOnce has looks at the database fail one after the other: the log
// warns once, when that goes on.
func TestFailedLooksAreWarnedOfOnce(t *testing.T) {
	t.Parallel()
	var logged []slog.Level
	a := memoryApplier()
	a.session.syncer.config.Logger = slog.New(levels{logged: &logged})
	w := newWatcher(a.session)
	for range 3 * warnAfter {
		w.failed(errors.New("no answer"))
	}
	for i, level := range logged {
		if (level == slog.LevelWarn) != (i+1 == warnAfter) || level > slog.LevelWarn {
			t.Errorf("failure %d is told as %s", i+1, level)
		}
	}
	if len(logged) != 3*warnAfter {
		t.Errorf("%d failures are told", len(logged))
	}
}
