package proxy

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestPipelineFollowsTheServer plays random scripts against a model of the
// server that answers with a delay of its own, and compares each error with the
// refusal it should be.
func TestPipelineFollowsTheServer(t *testing.T) {
	t.Parallel()
	type scripted struct {
		kind   stepKind
		refuse *refusal
		fails  bool // for another reason
	}
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 1))
		p := newTracker(fakeState{}, nil)
		var sent []scripted
		skipping := false // the model's, not the pipeline's
		answer := func() {
			m := sent[0]
			sent = sent[1:]
			if skipping && m.kind != stepSync {
				return
			}
			if m.fails || m.refuse != nil {
				text := "something else"
				if m.refuse != nil {
					text = `syntax error at or near "` + m.refuse.token + `"`
				}
				if got := p.fail("", text); got != m.refuse {
					t.Fatalf("seed %d: the error is %v, want %v", seed, got, m.refuse)
				}
				skipping = m.kind == stepExtended
			} else if m.kind == stepExtended {
				p.answered('1', nil)
			}
			if m.kind != stepExtended {
				skipping = false
				if err := p.ready('I'); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		}
		doomed := false
		for range 60 {
			if len(sent) > 0 && rng.IntN(2) == 0 {
				answer()
				continue
			}
			m := scripted{kind: stepKind(rng.IntN(3)), fails: rng.IntN(6) == 0}
			if doomed && m.kind != stepSync {
				continue
			}
			if m.kind == stepSync {
				m.fails, doomed = false, false
			} else if rng.IntN(6) == 0 {
				m.refuse = newRefusal(io.EOF, stateInternalError)
				doomed = m.kind == stepExtended
			}
			p.send(m.kind, &message{refused: m.refuse})
			sent = append(sent, m)
		}
		for len(sent) > 0 {
			answer()
		}
		if p.running() {
			t.Fatalf("seed %d: all is answered and %v is left", seed, p.steps)
		}
		if err := p.ready('I'); err == nil {
			t.Fatalf("seed %d: a ReadyForQuery too many is taken", seed)
		}
	}
}

// TestMixedSegmentIsCarriedOn answers as PostgreSQL 18 does: a simple query in the middle of
// a segment commits nothing, so that what an error behind it takes back has to be awaited.
func TestMixedSegmentIsCarriedOn(t *testing.T) {
	t.Parallel()
	for _, carried := range []bool{true, false} {
		p := newTracker(fakeState{}, nil)
		set := textMessage(messageParse, "SET search_path TO a", fakeState{}, fakeRewrite("SET search_path TO a", fakeState{}))
		p.send(stepExtended, &set)
		p.send(stepQuery, nil)
		p.answered('1', nil)
		if err := p.ready(map[bool]byte{true: 'T', false: 'I'}[carried]); err != nil {
			t.Fatal(err)
		}
		if _, known := p.ahead(); !known {
			t.Error("the state is unknown although all is answered")
		}
		p.send(stepExtended, nil)
		p.send(stepSync, nil)
		if _, known := p.ahead(); known == carried {
			t.Errorf("carried on is %v, the state ahead is known: %v", carried, known)
		}
		p.fail("", "an error")
		if err := p.ready('I'); err != nil {
			t.Fatal(err)
		}
		if _, known := p.ahead(); !known {
			t.Error("the state is unknown although all is answered")
		}
	}
}

// TestPipelineIsBounded has a client send what the server does not answer.
func TestPipelineIsBounded(t *testing.T) {
	t.Parallel()
	converse(t, nil, func(s *scriptedServer) {
		for range maxPending + 10 {
			s.sends("SELECT 1")
		}
		if n := strings.Count(s.hears(), "Q(SELECT 1)"); n != maxPending {
			t.Fatalf("%d statements are on their way", n)
		}
		s.answers(ready)
		s.expect("Q(SELECT 1) H") // each that waits asks for answers once
		for range 9 {
			s.answers(ready)
		}
		s.sends("SELECT 2")
		s.expect(strings.TrimSpace(strings.Repeat("Q(SELECT 1) H ", 9)))
		s.answers(ready)
		s.expect("Q(SELECT 2)")
	})
}

// TestBareSyncCommitsNothing answers as PostgreSQL 18 does to a Sync right behind the simple
// query of a mixed segment: it is idle, and takes everything back with the next error.
func TestBareSyncCommitsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		between string // the answers between the query and Sync
		commits bool
	}{
		"nothing":                    {},
		"Close":                      {between: "33"},
		"Execute of an empty portal": {between: "I"},
		"Parse":                      {between: "13", commits: true},
		"Execute":                    {between: "IC", commits: true},
		"Sync":                       {between: "Z"},
	} {
		p := newTracker(fakeState{}, nil)
		ready := func(status byte) {
			t.Helper()
			if err := p.ready(status); err != nil {
				t.Fatal(err)
			}
		}
		set := textMessage(messageParse, "SET search_path TO a", fakeState{}, fakeRewrite("SET search_path TO a", fakeState{}))
		p.send(stepExtended, &set)
		p.send(stepQuery, nil)
		p.answered('1', nil)
		ready('T')
		for _, kind := range []byte(c.between) {
			if kind == 'Z' {
				p.send(stepSync, nil)
				ready('I')
			} else {
				p.send(stepExtended, nil)
				p.answered(kind, nil)
			}
		}
		p.send(stepSync, nil)
		ready('I')
		p.send(stepQuery, nil)
		if _, known := p.ahead(); known != c.commits {
			t.Errorf("%s between the query and Sync: the state ahead is known: %v", name, known)
		}
	}
}

// TestErrorTakesBackWhatIsCarried has an error come while what is to be skipped is sent, up
// to a Sync with nothing of that in sight.
func TestErrorTakesBackWhatIsCarried(t *testing.T) {
	t.Parallel()
	p := newTracker(fakeState{}, nil)
	set := textMessage(messageParse, "SET search_path TO a", fakeState{}, fakeRewrite("SET search_path TO a", fakeState{}))
	p.send(stepExtended, &set)
	p.send(stepQuery, nil)
	p.answered('1', nil)
	if err := p.ready('T'); err != nil {
		t.Fatal(err)
	}
	p.send(stepExtended, nil)
	p.send(stepQuery, nil)
	p.fail("", "an error")
	p.send(stepExtended, nil) // which the server skips
	p.send(stepSync, nil)
	if err := p.ready('I'); err != nil {
		t.Fatal(err)
	}
	p.send(stepQuery, nil)
	if _, known := p.ahead(); !known {
		t.Error("the transaction goes on after an error")
	}
}
