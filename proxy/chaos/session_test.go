package chaos

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// session is a client of the proxy and what it must be answered.
type session struct {
	*world
	rng   *rand.Rand
	id    *int
	model *Model

	client *Client
	rough  *rough
	pid    uint32 // of the backend, where it has been asked for

	what  string    // it is, for reports
	trace []message // what it has sent lately
}

// traceLength is how many messages a report shows.
const traceLength = 300

func (s *session) history() string {
	var lines []string
	for _, m := range s.trace[max(0, len(s.trace)-traceLength):] {
		lines = append(lines, m.String())
	}
	return strings.Join(lines, "\n")
}

// life is a session from login to one of its ends.
func (s *session) life() error {
	if err := s.begin(); err != nil {
		return err
	}
	defer func() { _ = s.client.Raw.Close() }()
	s.did(countSessions, 1)
	for range 1 + s.rng.IntN(30) {
		if s.over() {
			break
		}
		if err := s.round(); err != nil {
			return err
		}
	}
	return s.end()
}

// begin logs in.
func (s *session) begin() (err error) {
	way := s.rng.IntN(3)
	unix, encrypted := way == 0, way == 1 // there is no TLS over Unix sockets
	s.what = fmt.Sprintf("unix %t, TLS %t", unix, encrypted)
	login := s.front.Login(unix, encrypted)
	login.Wrap = roughen(s.rng, &s.rough)
	if s.client, err = login.Dial(); err != nil {
		return err
	}
	if style := s.client.Parameters["IntervalStyle"]; style != Styles[0] {
		return fmt.Errorf("the session begins with the style %s", style)
	}
	s.model = &Model{}
	if s.refuses {
		s.model.Refuse, s.model.Rewriting = RefusalBehind, true
	}
	if s.rng.IntN(4) > 0 {
		return nil
	}
	return s.askPID()
}

// askPID asks for the process of the backend. The model is not told of it.
func (s *session) askPID() error {
	if _, err := s.client.Write(AppendMessage(nil, 'Q', []byte("SELECT pg_backend_pid()\x00"))); err != nil {
		return err
	}
	for {
		kind, body, err := ReadMessage(s.client.In)
		switch {
		case err != nil:
			return err
		case kind == 'Z':
			return nil
		case kind == 'E':
			return errors.New(ReportOf(body).String())
		case kind == 'D':
			pid, err := strconv.ParseUint(string(body[6:]), 10, 32)
			if err != nil {
				return err
			}
			s.pid = uint32(pid)
		}
	}
}

// round is one thing that a session does.
func (s *session) round() error {
	s.rough.manner.Store(int32(s.rng.IntN(manners)))
	if err := s.client.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	switch s.rng.IntN(24) {
	case 0:
		return s.cancelSleep()
	case 1:
		return s.cancelLate()
	case 2:
		return s.cancelRacing()
	case 3:
		return s.cancelOthers()
	default:
		return s.play(s.draw(false))
	}
}

// draw draws messages and what they must be answered.
func (s *session) draw(quick bool) []sent {
	g := &generator{rng: s.rng, model: s.model, id: s.id, refuses: s.refuses, quick: quick}
	g.suit(s.client.Parameters)
	var batch []sent
	for range 1 + s.rng.IntN(4) {
		g.segment(func(m message) {
			if !s.refuses {
				m.body = unmarked(m.body) // as the gate does
			}
			next := sent{message: m}
			if quick {
				next.before = s.model.Clone()
			}
			next.want = s.model.Step(m.kind, m.body)
			batch = append(batch, next)
			s.trace = append(s.trace, m)
		})
	}
	s.trace = s.trace[max(0, len(s.trace)-2*traceLength):]
	s.did(countMessages, len(batch))
	return batch
}

// write writes what a batch sends while the answers are read.
func (s *session) write(bytes []byte) <-chan error {
	written := make(chan error, 1)
	go func() {
		_, err := s.client.Write(bytes)
		written <- err
	}()
	return written
}

// play sends messages and reads their answers.
func (s *session) play(batch []sent) error {
	written := s.write(encode(batch))
	for _, m := range batch {
		left, kind, body, err := s.client.expect(m.want)
		if err != nil {
			return fmt.Errorf("at %s: %w, want %s", m, err, show(left))
		}
		if kind != 0 {
			return fmt.Errorf("at %s: %w", m, mismatch(left, kind, body))
		}
	}
	return <-written
}

// end ends the session in one of all ways.
func (s *session) end() error {
	if err := s.client.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	switch kind := s.rng.IntN(8); {
	case kind == 0 && s.pid != 0:
		return s.endKilled()
	case kind <= 1:
		return s.endAmidst()
	case kind == 2:
		return s.endHalf()
	case kind == 3:
		s.did(countDrops, 1)
		s.client.reset()
		return nil
	default:
		return s.endOrderly()
	}
}

// endOrderly sends Terminate, sometimes behind messages that must still be answered.
func (s *session) endOrderly() error {
	s.what += ", terminated"
	var batch []sent
	if s.rng.IntN(2) == 0 {
		batch = s.draw(false)
		if batch[len(batch)-1].kind == 'H' {
			batch = append(batch, sent{message: message{kind: 'S'}, want: s.model.Step('S', nil)})
		}
	}
	written := s.write(AppendMessage(encode(batch), 'X', nil))
	left, kind, body, err := s.client.expect(wanted(batch))
	if err != nil || kind != 0 {
		return fmt.Errorf("%w, %w", err, mismatch(left, kind, body))
	}
	if err := <-written; err != nil {
		return err
	}
	return s.client.expectEnd(nil)
}

// endAmidst disconnects at any byte.
func (s *session) endAmidst() error {
	s.did(countDrops, 1)
	bytes := encode(s.draw(false))
	written := s.write(bytes[:s.rng.IntN(len(bytes)+1)])
	if s.rng.IntN(2) == 0 {
		_ = s.client.SetReadDeadline(time.Now().Add(time.Duration(s.rng.IntN(20)) * time.Millisecond))
		_, _ = s.client.In.Peek(1 + s.rng.IntN(100))
	}
	if s.rng.IntN(2) == 0 {
		s.client.reset()
	} else {
		_ = s.client.Close()
	}
	discard(written)
	return nil
}

// discard waits for a write that fails if the end comes first.
func discard(written <-chan error) {
	if err := <-written; err != nil {
		return
	}
}

// endHalf stops sending but goes on reading.
func (s *session) endHalf() error {
	s.what += ", half closed"
	s.did(countDrops, 1)
	batch := s.draw(false)
	written := s.write(encode(batch))
	go func() {
		if <-written == nil {
			s.client.halfClose()
		}
	}()
	return s.client.expectEnd(wanted(batch))
}

// endKilled has the backend terminated while messages are on their way, or none.
func (s *session) endKilled() error {
	s.what += ", killed"
	s.did(countKills, 1)
	var batch []sent
	if s.rng.IntN(2) == 0 {
		batch = s.draw(false)
	}
	written := s.write(encode(batch))
	err := errors.Join(s.terminate(s.pid), s.client.expectEnd(wanted(batch)))
	_ = s.client.Raw.Close()
	discard(written)
	return err
}
