package proxy

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// happening is what a clock was told.
type happening struct {
	at        int  // seconds
	kind      byte // sent, answered, failed, Z (ready), canceled, - (time passes)
	expects   int  // of 's': statements
	statement bool // of 'a' and 'f': one has ended
	status    byte // of 'Z'
	running   int  // unanswered messages after it
}

// history judges the bounds by definition: by looking through all that happened.
type history struct {
	limits Timeouts
	all    []happening
}

// last is the time of the last happening of a kind, -1 = never.
func (h *history) last(is func(before, now happening) bool) int {
	for i := len(h.all) - 1; i > 0; i-- {
		if is(h.all[i-1], h.all[i]) {
			return h.all[i].at
		}
	}
	return h.all[0].at
}

// transaction is when it began, -1 = there is none.
func (h *history) transaction() int {
	for i := len(h.all) - 1; i >= 0; i-- {
		if now := h.all[i]; now.kind == 'Z' && now.status == 'I' {
			for _, next := range h.all[i:] {
				if next.running > 0 || next.kind == 's' {
					return next.at
				}
			}
			return -1
		}
	}
	return -1
}

func (h *history) due(now int, open bool) limit {
	type bound struct {
		limit
		begin int
		most  time.Duration
	}
	var bounds []bound
	began := h.transaction()
	if began >= 0 {
		bounds = append(bounds, bound{limitTransaction, began, h.limits.Transaction}) // wins where equal
	}
	statement := h.last(func(before, now happening) bool {
		return now.kind == 's' && before.running == 0 || now.statement || now.kind == 'Z'
	})
	rest := h.last(func(before, now happening) bool { return before.running > 0 && now.running == 0 })
	canceled := h.last(func(_, now happening) bool { return now.kind == 'c' || now.statement })
	switch running := h.all[len(h.all)-1].running > 0; {
	case running && h.canceling() && open:
		bounds = append(bounds, bound{limitIdleInTransaction, canceled, h.limits.IdleInTransaction})
	case running && h.canceling():
		bounds = append(bounds, bound{limitUnanswered, canceled, cancelGrace})
	case running:
		bounds = append(bounds, bound{limitStatement, statement, h.limits.Statement * time.Duration(max(h.expected(), 1))})
	case began >= 0:
		bounds = append(bounds, bound{limitIdleInTransaction, rest, h.limits.IdleInTransaction})
	default:
		bounds = append(bounds, bound{limitIdle, rest, h.limits.Idle})
	}
	first, reached := now+1, noLimit
	for _, b := range bounds {
		if end := b.begin + int(b.most.Seconds()); b.most > 0 && end < first {
			first, reached = end, b.limit
		}
	}
	return reached
}

// expected counts the statements that may be running, without those that have ended.
func (h *history) expected() (n int) {
	for i, now := range h.all {
		switch {
		case now.running == 0, now.kind == 's' && h.all[i-1].running == 0:
			n = now.expects
		case now.statement:
			n = max(n-1, 0)
		default:
			n += now.expects
		}
	}
	return n
}

// canceling tells whether what runs was canceled.
func (h *history) canceling() bool {
	for i := len(h.all) - 1; i > 0; i-- {
		switch now := h.all[i]; {
		case now.kind == 'c':
			return true
		case now.kind == 'Z', now.kind == 'f', now.running == 0, now.kind == 's' && h.all[i-1].running == 0:
			return false
		}
	}
	return false
}

// TestClock has clients and servers act at random and holds the clock against history.
func TestClock(t *testing.T) {
	t.Parallel()
	met := map[limit]int{}
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 7))
		some := func() time.Duration { return time.Duration(random.IntN(8)) * 3 * time.Second }
		limits := Timeouts{Statement: some(), Idle: some(), IdleInTransaction: some(), Transaction: some()}
		epoch := time.Unix(1_700_000_000, 0)
		clock := clock{limits: limits}
		h := history{limits: limits, all: []happening{{kind: 'Z', status: 'I'}}}
		clock.ready(epoch, 'I', false)
		now, running := 0, 0
		for range 40 {
			now += random.IntN(6)
			at := epoch.Add(time.Duration(now) * time.Second)
			next := happening{at: now}
			switch choice := random.IntN(5); {
			case choice == 0 || running == 0 && choice < 4:
				clock.sent(at, running > 0)
				next.kind, next.expects = 's', random.IntN(3)
				clock.expect(next.expects)
				running++
			case choice == 1 && running > 0:
				running--
				next.kind, next.statement = 'a', random.IntN(2) == 0
				clock.answered(at, next.statement, running > 0)
			case choice == 3 && running > 0:
				running--
				next.kind, next.statement = 'f', true
				clock.failed(at, running > 0)
			case choice == 2 && running > 0:
				running--
				next.kind, next.status = 'Z', "ITE"[random.IntN(3)]
				clock.ready(at, next.status, running > 0)
			default:
				next.kind = '-' // time passes
			}
			next.running = running
			h.all = append(h.all, next)
			if got, want := clock.canceling(), h.canceling(); got != want {
				t.Fatalf("seed %d: after %s: canceling %v, want %v", seed, h, got, want)
			}
			open := random.IntN(2) == 0
			want := h.due(now, open)
			got := clock.due(at, running > 0, open)
			if got != want {
				t.Fatalf("seed %d: %+v: after %s: limit %d, want %d", seed, limits, h, got, want)
			}
			met[got]++
			if got == limitStatement {
				h.all = append(h.all, happening{at: now, kind: 'c', running: running})
			} else if got != noLimit {
				break // the session ends
			}
		}
	}
	if len(met) != len(reports)+1 {
		t.Errorf("not all limits were met: %v", met)
	}
}

func (h history) String() string {
	text := ""
	for _, p := range h.all {
		text += fmt.Sprintf("%d%c%d ", p.at, p.kind, p.running)
	}
	return text
}

// TestClockReports holds what clients are told against PostgreSQL's codes.
func TestClockReports(t *testing.T) {
	t.Parallel()
	for l, want := range map[limit]string{
		limitStatement: "ERROR 57014", limitUnanswered: "FATAL 57014", limitIdle: "FATAL 57P05",
		limitIdleInTransaction: "FATAL 25P03", limitTransaction: "FATAL 25P04",
	} {
		if got := l.report().severity + " " + l.report().state; got != want || l.report().message == "" {
			t.Errorf("limit %d: %s", l, got)
		}
	}
}
