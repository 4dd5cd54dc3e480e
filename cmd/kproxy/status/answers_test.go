package status

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/cmd/kproxy/processes"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/internal/state"
	ksync "github.com/kproxy/kproxy/sync"
)

// TestReadersAreRefused: that nobody serves readers comes first, since when and why. Where another process
// serves, it is about the one that does not.
func TestReadersAreRefused(t *testing.T) {
	t.Parallel()
	s := storedExample()
	s.Tables = nil
	early := &state.Refusal{Since: s.At.Add(-90 * time.Second), Why: "the check of the guarantees fails", Fix: "see the check"}
	late := &state.Refusal{Since: s.At.Add(-time.Second), Why: "the database does not answer", Fix: "start it"}
	refused := func(of ...*state.Refusal) Status {
		s.Clients = nil
		for _, r := range of {
			s.Clients = append(s.Clients, processes.Clients{Reply: processes.Reply{Process: "host, process 7"}, Refusal: r})
		}
		s.addAnswers()
		s.Needs = s.needs(config.Replication{})
		return s
	}
	text := func(s Status) string {
		var text bytes.Buffer
		if err := s.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	all := text(refused(late, early))
	if !strings.HasPrefix(all, "READERS ARE REFUSED since 2024-05-01T11:58:30Z, for 1m30s: the check of the guarantees fails\n") ||
		!strings.Contains(all, "needs you: readers are refused since 2024-05-01T11:58:30Z: the check of the guarantees fails\n    fix: see the check") {
		t.Errorf("the status is\n%s", all)
	}
	one := text(refused(nil, late))
	if strings.Contains(one, "READERS") || !strings.Contains(one, "needs you: kproxy (host, process 7) serves no new session since 2024-05-01T11:59:59Z: the database does not answer\n    fix: start it") {
		t.Errorf("the status is\n%s", one)
	}
	s.found.grave = []state.Need{{What: "role kproxy_owner cannot log in", Fix: "let it in"}, {What: "more", Fix: "mend it"}}
	known := refused(early)
	if got := known.Needs; len(got) != 2 || !strings.Contains(got[0].What, "fails: role kproxy_owner cannot log in") || got[0].Fix != "let it in" || got[1].What != "more" {
		t.Errorf("the needs are %+v", got)
	}
	s.found.grave = nil
	if got := refused(nil, nil); got.Refused != nil || len(got.Needs) != 0 {
		t.Errorf("where all is well, %+v", got.Needs)
	}
}

// TestWorkIsShown: a table that is being made shows how far that is, and who keeps it from going on.
func TestWorkIsShown(t *testing.T) {
	t.Parallel()
	percent := 43
	s := storedExample()
	s.Clients = []processes.Clients{{}, {Work: map[string]*state.Work{
		"public.patients": {Stage: "reading", Percent: &percent, Left: 20},
		"public.later":    {Problem: "a slot waits for server process 9", Fix: "end its session"},
		"public.visits":   {Stage: "reading", Percent: &percent},
	}}}
	s.addAnswers()
	s.Needs = s.needs(config.Replication{})
	var text bytes.Buffer
	if err := s.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"published, rebuild, reading 43%, 20s left ", "unpublished, blocked ", "needs you: table public.later is not ready: a slot waits for server process 9\n    fix: end its session"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the status is without %q:\n%s", want, text.String())
		}
	}
	if s.Tables[1].Work != nil {
		t.Error("a halted table is worked on")
	}
}

// TestDeadApplier: a session that holds the lock for applying is what is left of a kproxy if all that run have
// answered, and it is none of theirs.
func TestDeadApplier(t *testing.T) {
	t.Parallel()
	settings, err := pgx.ParseConfig(pgtest.Database(t, pgtest.Shared(t)))
	if err != nil {
		t.Fatal(err)
	}
	const slot = "dead_test"
	settings.RuntimeParams["application_name"] = ksync.ApplierName(slot)
	applier, err := pgx.ConnectConfig(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = applier.Close(context.Background()) }()
	if _, err := applier.Exec(t.Context(), "SELECT pg_advisory_lock(hashtextextended('kproxy applies "+slot+"', 0))"); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), settings.ConnString())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	holder, err := ksync.FindHolder(t.Context(), conn, slot)
	if err != nil || holder == nil || !holder.Applies {
		t.Fatalf("the holder is %+v, %v", holder, err)
	}
	pid, other, none := applier.PgConn().PID(), uint32(1), uint32(0)
	for name, c := range map[string]struct {
		clients []*uint32
		silent  int
		after   time.Duration
		dead    bool
	}{
		"nobody's":                  {[]*uint32{&none, &other}, 0, time.Minute, true},
		"somebody's":                {[]*uint32{&none, &pid}, 0, time.Minute, false},
		"of one that is silent":     {[]*uint32{&none}, 1, time.Minute, false},
		"of an earlier version":     {[]*uint32{&none, nil}, 0, time.Minute, false},
		"of one that has just come": {[]*uint32{&none}, 0, time.Second, false},
		"where nobody answers":      {nil, 0, time.Minute, false},
	} {
		s := storedExample()
		s.Tables, s.holder, s.Silent, s.At, s.Clients = nil, holder, c.silent, holder.Since.Add(c.after), nil
		for _, session := range c.clients {
			s.Clients = append(s.Clients, processes.Clients{Session: session})
		}
		if err := s.findDeadApplier(t.Context(), conn, slot); err != nil {
			t.Fatal(err)
		}
		needs := s.needs(config.Replication{})
		if told := len(needs) == 1 && strings.Contains(needs[0].What, "what is left of a kproxy") && strings.Contains(needs[0].Fix, "pg_terminate_backend"); told != c.dead || !c.dead && len(needs) > 0 {
			t.Errorf("%s: %+v", name, needs)
		}
	}
}
