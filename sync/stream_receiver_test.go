package sync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	gosync "sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// heardStream is a stream of a stand-in server, with what it is answered.
type heardStream struct {
	*stream
	ses     *session
	say     chan pgproto3.BackendMessage
	mu      gosync.Mutex
	answers []acknowledged
}

// heard are the answers until now.
func (h *heardStream) heard() []acknowledged {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.answers)
}

// newHeardStream begins a stream at 0/64.
func newHeardStream(t *testing.T) *heardStream {
	t.Helper()
	h := &heardStream{say: make(chan pgproto3.BackendMessage)}
	m := newPipedServer(t)
	began := time.Now()
	m.streaming, m.hear = h.say, func(data []byte) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.answers = append(h.answers, acknowledgedBy(data, began))
	}
	h.ses = m.session()
	h.ses.position = 100
	var err error
	if h.stream, err = h.ses.startStream(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = h.stop()
		close(h.say)
		time.Sleep(time.Minute) // connections are closed
	})
	return h
}

// TestIdleStreamIsAnswered lets a server say nothing: it is told each second what is stored, or
// where a snapshot holds that back, is asked for an answer after a while, and taken for gone
// after some time more. A keepalive that asks is answered at once.
func TestIdleStreamIsAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHeardStream(t)
		h.ses.shared.ack.stored.Store(7)
		time.Sleep(2*statusInterval + 1)
		h.ses.shared.ack.stored.Store(9)
		time.Sleep(statusInterval / 2)
		h.say <- keepalive(50, false)
		h.say <- keepalive(51, true)
		synctest.Wait()
		h.ses.shared.ack.held.Store(8)
		time.Sleep(maxSilence - time.Second)
		synctest.Wait()
		half := 2*statusInterval + 1 + statusInterval/2
		want := []acknowledged{{0, 7, 7, 7, false}, {statusInterval, 7, 7, 7, false}, {2 * statusInterval, 7, 7, 7, false}, {half, 9, 9, 9, false}}
		for after := statusInterval; after < maxSilence; after += statusInterval {
			want = append(want, acknowledged{half + after, 8, 8, 8, after > askAfter})
		}
		heard := h.heard()
		for i, one := range want { // the first answer goes out before anything is stored
			if i == 0 {
				one.written, one.flushed, one.put = heard[0].written, heard[0].flushed, heard[0].put
			}
			if i >= len(heard) || heard[i] != one {
				t.Fatalf("answer %d is %+v, not %+v", i, heard[min(i, len(heard)-1)], one)
			}
		}
		if len(heard) != len(want) {
			t.Errorf("%d answers, %d expected", len(heard), len(want))
		}
		var got []pglogrepl.LSN
		for len(h.messages) > 0 {
			for _, one := range <-h.messages {
				got = append(got, one.keepalive)
			}
		}
		if !slices.Equal(got, []pglogrepl.LSN{50, 51}) {
			t.Errorf("the server is at %v", got)
		}
		select {
		case <-h.messages:
			t.Fatal("the server is taken for gone too early")
		default:
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if _, more := <-h.messages; more || h.failure == nil || !strings.Contains(h.failure.Error(), "said nothing") {
			t.Errorf("it ends with %v", h.failure)
		}
	})
}

// TestStreamIsReceived sends messages of all sizes, together and apart: they come in their order,
// in batches that are bounded.
func TestStreamIsReceived(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHeardStream(t)
		var want, got []string
		for i := range 3 * maxMessages {
			text := fmt.Sprint(i, " ", strings.Repeat("x", i%7*40))
			if i%100 == 99 {
				text = strings.Repeat("y", maxMessageBytes+i)
			}
			want = append(want, text)
		}
		go func() {
			for i, text := range want {
				if h.say <- walData(text); i%50 == 0 {
					h.say <- &pgproto3.NoticeResponse{}
					h.say <- &pgproto3.ParameterStatus{Name: "a", Value: "b"}
				}
			}
		}()
		for len(got) < len(want) {
			batch, more := <-h.messages
			if !more {
				t.Fatalf("it ends after %d messages", len(got))
			}
			bytes, last := 0, 0
			for _, one := range batch {
				if one.keepalive != 0 || cap(one.data) != len(one.data) {
					t.Errorf("a message of %d bytes has room for %d", len(one.data), cap(one.data))
				}
				got = append(got, string(one.data))
				last = len(one.data)
				bytes += last
			}
			if len(batch) > maxMessages || bytes-last >= maxMessageBytes {
				t.Errorf("%d messages of %d bytes come together", len(batch), bytes)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d messages are not those that were sent", len(got))
		}
		if err := h.stop(); !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
	})
}

// TestMessagesAreBatched has many messages come at once: they are handed over together, up to a
// number.
func TestMessagesAreBatched(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		messages, bytes int
		want            []int
	}{
		{3, 1, []int{3}},
		{maxMessages, 1, []int{maxMessages}},
		{maxMessages + 1, 1, []int{maxMessages, 1}},
		{4, maxMessageBytes / 2, []int{2, 2}},
		{3, maxMessageBytes, []int{1, 1, 1}},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHeardStream(t)
			var all []byte
			for range test.messages {
				all, _ = walData(strings.Repeat("x", test.bytes)).Encode(all)
			}
			h.say <- rawMessages(all)
			synctest.Wait()
			var got []int
			for len(h.messages) > 0 {
				got = append(got, len(<-h.messages))
			}
			if test.bytes == 1 && !slices.Equal(got, test.want) || test.bytes > 1 && len(got) < len(test.want) {
				t.Errorf("%d messages of %d bytes come as %v", test.messages, test.bytes, got)
			}
		})
	}
}

// rawMessages are some that are sent together.
type rawMessages []byte

func (rawMessages) Decode([]byte) error                { return nil }
func (m rawMessages) Encode(to []byte) ([]byte, error) { return append(to, m...), nil }
func (rawMessages) Backend()                           {}

// TestStreamEnds has the server end the stream in each way.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		message    pgproto3.BackendMessage
		want       string
		unreadable bool
	}{
		{"no publication", &pgproto3.ErrorResponse{Code: undefinedObject, Message: "no publication"}, "no publication", true},
		{"the log makes no sense", &pgproto3.ErrorResponse{Code: "XX000", Message: "no file"}, "no file", true},
		{"another refusal", &pgproto3.ErrorResponse{Code: "57P01", Message: "going down"}, "going down", false},
		{"the end", &pgproto3.CopyDone{}, "the server ended the stream", false},
		{"the end of the command", &pgproto3.CommandComplete{CommandTag: []byte("COPY 0")}, "the server ended the stream", false},
		{"what does not belong there", &pgproto3.ParseComplete{}, "unexpected *pgproto3.ParseComplete", false},
		{"nothing", &pgproto3.CopyData{}, "empty message", false},
		{"an unknown message", &pgproto3.CopyData{Data: []byte("x")}, "unknown message 'x'", false},
		{"a short keepalive", &pgproto3.CopyData{Data: []byte{pglogrepl.PrimaryKeepaliveMessageByteID, 1}}, "reading a keepalive", false},
		{"short data", &pgproto3.CopyData{Data: []byte{pglogrepl.XLogDataByteID, 1}}, "reading WAL data", false},
	} {
		for _, together := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				h := newHeardStream(t)
				before, _ := walData("before").Encode(nil)
				last, err := test.message.Encode(nil)
				if err != nil {
					t.Fatal(err)
				}
				if together {
					h.say <- rawMessages(slices.Concat(before, last))
				} else {
					h.say <- rawMessages(before)
					synctest.Wait()
					h.say <- rawMessages(last)
				}
				synctest.Wait()
				err = h.stop()
				if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, errUnreadable) != test.unreadable {
					t.Errorf("%s: it ends with %v", test.name, err)
				}
				server := (*pgconn.PgError)(nil)
				if refused := test.name == "another refusal"; errors.As(err, &server) != refused {
					t.Errorf("%s: the server's error is %v", test.name, server)
				}
			})
		}
	}
}

// TestBusyApplierIsCoveredFor leaves messages lie: the server hears from kproxy all the same, and
// is not taken for gone afterwards.
func TestBusyApplierIsCoveredFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHeardStream(t)
		for i := range maxQueued + 1 {
			h.say <- walData(fmt.Sprint(i))
			synctest.Wait()
		}
		before := len(h.heard())
		time.Sleep(3*maxSilence + time.Millisecond)
		synctest.Wait()
		if got := len(h.heard()) - before; got != int(3*maxSilence/statusInterval) {
			t.Errorf("%d answers in %v", got, 3*maxSilence)
		}
		for i := range maxQueued + 1 {
			if batch := <-h.messages; len(batch) != 1 || string(batch[0].data) != fmt.Sprint(i) {
				t.Fatalf("message %d is %v", i, batch)
			}
			synctest.Wait()
		}
		time.Sleep(maxSilence / 2)
		h.say <- walData("more")
		if batch := <-h.messages; len(batch) != 1 {
			t.Errorf("%d messages come", len(batch))
		}
		for i := range maxQueued + 1 {
			h.say <- walData(fmt.Sprint(i))
			synctest.Wait()
		}
		if err := h.stop(); !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
	})
}

// TestStreamIsRestarted ends a stream, and begins it anew on another connection. One that has
// ended by itself is not.
func TestStreamIsRestarted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		say := make(chan pgproto3.BackendMessage)
		defer close(say)
		m := newPipedServer(t, answer{words: "pg_advisory", rows: [][]any{{"t"}}})
		m.streaming = say
		s := m.session()
		s.position = 100
		first, err := s.startStream(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		before := s.replication
		s.position = 200
		next, err := s.restartStream(t.Context(), first)
		if err != nil {
			t.Fatal(err)
		}
		if s.replication == before || !before.IsClosed() {
			t.Error("the connection is the same")
		}
		if log := m.log(); strings.Count(log, "START_REPLICATION SLOT slot LOGICAL") != 2 || !strings.Contains(log, "0/64") || !strings.Contains(log, "0/C8") {
			t.Errorf("the server is told\n%s", log)
		}
		for range 2 { // one is for the first connection
			say <- &pgproto3.ErrorResponse{Code: "57P01", Message: "going down"}
			synctest.Wait()
		}
		if again, err := s.restartStream(t.Context(), next); again != nil || err == nil || !strings.Contains(err.Error(), "going down") {
			t.Errorf("a stream that has ended is restarted: %v", err)
		}
	})
}
