package chaos

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// sleepMillis is the length of a sleep that is canceled: it does not end by itself.
const sleepMillis = 100_000

// cancel sends a cancel request, or what looks like one, and waits until it is served.
func (s *session) cancel(packet []byte) error {
	s.did(countCancels, 1)
	network, address := "tcp", s.front.TCP
	if s.client.Raw.RemoteAddr().Network() == "unix" {
		network, address = "unix", s.front.Unix
	}
	conn, err := net.Dial(network, address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := conn.Write(packet); err != nil {
		return err
	}
	answer, err := io.ReadAll(conn)
	if len(answer) > 0 {
		return fmt.Errorf("a cancel request was answered by %q", answer)
	}
	if err != nil {
		return fmt.Errorf("a cancel request is not served: %w", err)
	}
	return nil
}

// know tells the model of messages that may be canceled.
func (s *session) know(messages ...message) (batch []sent) {
	for _, m := range messages {
		next := sent{message: m, before: s.model.Clone()}
		next.want = s.model.Step(m.kind, m.body)
		batch = append(batch, next)
	}
	s.trace = append(s.trace, messages...)
	s.did(countMessages, len(batch))
	return batch
}

func (s *session) key() []byte { return CancelPacket(s.client.PID, s.client.Secret) }

// canceled is the answer to what is canceled.
const canceled = "57014"

// cancelSleep cancels a statement that would not end, again and again until it ends, by
// several at once.
func (s *session) cancelSleep() error {
	*s.id++
	text := Statement{Verb: Sleep, ID: *s.id, A: sleepMillis}.Text()
	sleep := []message{{'Q', []byte(text + "\x00")}}
	if s.rng.IntN(2) == 0 {
		sleep = []message{
			{'P', []byte("\x00" + text + "\x00\x00\x00")}, {'B', make([]byte, 8)}, executing("", 0), {kind: 'S'},
		}
	}
	batch := s.know(sleep...)
	var over atomic.Bool
	var cancelers sync.WaitGroup
	for range 1 + s.rng.IntN(3) {
		cancelers.Go(func() {
			for !over.Load() {
				if err := s.cancel(s.key()); err != nil {
					s.Error(err)
					return
				}
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	err := s.playCanceled(batch, 1)
	over.Store(true)
	cancelers.Wait() // what is sent next must not be hit
	if err != nil {
		return err
	}
	return s.play(s.know(describing('C', 'S', ""), message{kind: 'S'})) // nothing is to run it again
}

// cancelLate sends a cancel request between two statements. It must not hit the next.
func (s *session) cancelLate() error {
	if err := s.cancel(s.key()); err != nil {
		return err
	}
	return s.play(s.draw(false))
}

// cancelRacing sends a cancel request while statements run, of which it may hit one, and
// none of those that are sent after it has been served.
func (s *session) cancelRacing() error {
	if s.model.block || s.model.skipping {
		return nil // what a hit does would be another matter
	}
	served := make(chan error, 1)
	go func() { served <- s.cancel(s.key()) }()
	err := s.playCanceled(s.draw(true), 1)
	if hit := <-served; hit != nil {
		return hit
	}
	if err != nil {
		return err
	}
	return s.play(s.draw(false))
}

// cancelOthers sends requests that mean nobody, or are not whole, while statements run.
func (s *session) cancelOthers() error {
	packet := s.key()
	switch s.rng.IntN(4) {
	case 0:
		packet[len(packet)-1-s.rng.IntN(len(s.client.Secret))] ^= 1 << s.rng.IntN(8)
	case 1:
		packet[8+s.rng.IntN(4)] ^= 1 << s.rng.IntN(8)
	case 2:
		packet = append(packet, 0)
		packet[3]++
	default:
		packet = bytes.Clone(packet[:len(packet)-1])
		packet[3]--
	}
	served := make(chan error, 1)
	go func() { served <- s.cancel(packet) }()
	err := s.play(s.draw(false))
	if err == nil {
		err = <-served
	}
	return err
}

// playCanceled sends messages of which up to some may be canceled.
func (s *session) playCanceled(batch []sent, hits int) error {
	written := s.write(encode(batch))
	for i := 0; i < len(batch); i++ {
		m := batch[i]
		left, kind, body, err := s.client.expect(m.want)
		if err != nil {
			return fmt.Errorf("at %s: %w, want %s", m, err, show(left))
		}
		if kind == 0 {
			continue
		}
		if hits == 0 || kind != 'E' || ReportOf(body).State != canceled {
			return fmt.Errorf("with %d cancels left, at %s: %w", hits, m, mismatch(left, kind, body))
		}
		hits--
		s.count[countHits].Add(1)
		// From here on all is answered otherwise.
		*s.model = *m.before
		rest := s.model.Cancel(m.kind, m.body)
		_, rest = split(rest) // the error has been read
		if left, kind, body, err := s.client.expect(rest); err != nil || kind != 0 {
			return fmt.Errorf("after a cancel: %w, %w", err, mismatch(left, kind, body))
		}
		for j := i + 1; j < len(batch); j++ {
			batch[j].before = s.model.Clone()
			batch[j].want = s.model.Step(batch[j].kind, batch[j].body)
		}
	}
	return <-written
}

// split cuts the first message off.
func split(messages []byte) (first, rest []byte) {
	size := 1 + int(messages[3])<<8 + int(messages[4]) + int(messages[2])<<16
	return messages[:size], messages[size:]
}
