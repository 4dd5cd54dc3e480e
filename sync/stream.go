package sync

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

const (
	// statusInterval is how often the server hears from kproxy; wal_sender_timeout
	// is 60 s by default and may be as low as a few seconds.
	statusInterval = time.Second
	// maxSilence is after how long a server that says nothing is taken for gone. It is asked
	// for an answer after askAfter: while it decodes a large transaction it has nothing to
	// say, and does not ask itself as long as it hears from kproxy.
	maxSilence = 2 * lease
	askAfter   = lease / 4
	// maxMessages and batchBytes bound the messages that are handed to the applier together,
	// and queued how many such batches wait for it.
	maxMessages     = 256
	maxMessageBytes = 64 << 10
	maxQueued       = 256
	// smallPiece is how many messages are few for a stream that lags behind, and pieceTime how long more
	// of them are then waited for: each time that the server's process has written a message it may be
	// read alone, which costs more than applying it.
	smallPiece = 32
	pieceTime  = time.Millisecond
)

const (
	// undefinedObject is the SQLSTATE for a publication that does not exist.
	undefinedObject = "42704"
	// internalErrors is the class of SQLSTATE of what the decoder meets in WAL that it
	// cannot make sense of, such as a file that no catalog knows of.
	internalErrors = "XX"
)

// message is one message of the stream: WAL data, or the position of a keepalive.
type message struct {
	data      []byte // a logical replication message; nil for a keepalive
	keepalive pglogrepl.LSN
	lag       time.Duration // how long after its commit a transaction was sent, where the message begins one
}

// acknowledgement is what the server may be told that it need not keep any more.
type acknowledgement struct {
	stored atomic.Uint64 // the position of the store
	held   atomic.Uint64 // where a snapshot that a table joins from was taken; 0 for none
}

func (a *acknowledgement) lsn() pglogrepl.LSN {
	stored, held := a.stored.Load(), a.held.Load()
	if held != 0 {
		return pglogrepl.LSN(min(stored, held))
	}
	return pglogrepl.LSN(stored)
}

// stream is one run of the replication command, read by a goroutine.
type stream struct {
	messages <-chan []message // closed when the receiver has ended
	end      context.CancelFunc
	failure  error // why the receiver ended, once messages is closed
}

// receiver reads the stream and answers the server, apart from applying, so
// that a long transaction never runs into wal_sender_timeout.
type receiver struct {
	conn      *pgconn.PgConn
	messages  chan []message
	batch     []message // received, but not handed on
	copied    []byte    // what they are made of
	ack       *acknowledgement
	failpoint func(string)
	answered  time.Time
	heard     time.Time // when the server said something
	lagging   bool      // as group.lagging
}

// startStream has the server send the changes that follow the position.
func (s *session) startStream(ctx context.Context) (*stream, error) {
	s.syncer.config.Failpoint(FailBeforeStream)
	err := pglogrepl.StartReplication(ctx, s.replication, s.store.slot, s.position, pglogrepl.StartReplicationOptions{
		Mode:       pglogrepl.LogicalReplication,
		PluginArgs: []string{"proto_version '1'", "publication_names " + quotePublication(s.store.publication)},
	})
	if err != nil {
		return nil, fmt.Errorf("starting replication: %w", err)
	}
	if err := s.checkSlotStayed(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &receiver{conn: s.replication, messages: make(chan []message, maxQueued), ack: &s.shared.ack, failpoint: s.syncer.config.Failpoint, heard: time.Now()}
	st := &stream{messages: r.messages, end: cancel}
	go func() {
		st.failure = guard(s.syncer.config.Logger, func() error { return r.run(ctx) })
		close(r.messages)
	}()
	return st, nil
}

// stop ends the receiver, waits for it, and tells why it ended: context.Canceled, unless
// it had before. The messages that it has queued are lost.
func (st *stream) stop() error {
	st.end()
	for range st.messages {
		continue // until it is closed
	}
	return st.failure
}

// restartStream ends the stream in an orderly way and starts it at the session's
// position. A connection can do that only once (walsender.c forgets to reset what it
// knows of the end), so another one takes its place, and the lock.
func (s *session) restartStream(ctx context.Context, old *stream) (*stream, error) {
	if err := old.stop(); !errors.Is(err, context.Canceled) {
		return nil, err // there is nothing left to end
	}
	if err := s.endStream(ctx); err != nil {
		return nil, fmt.Errorf("ending the stream: %w", err)
	}
	next, err := s.syncer.openReplication(ctx, ApplierName(s.store.slot))
	if err != nil {
		return nil, err
	}
	if err := s.moveLock(ctx, next); err != nil {
		closeConn(next)
		return nil, err
	}
	return s.startStream(ctx)
}

// endStream asks the server for the end of the stream and waits for it.
func (s *session) endStream(ctx context.Context) error {
	frontend := s.replication.Frontend()
	frontend.Send(&pgproto3.CopyDone{})
	if err := frontend.Flush(); err != nil {
		return err
	}
	deadline, cancel := context.WithTimeout(ctx, lease)
	defer cancel()
	for {
		m, err := s.replication.ReceiveMessage(deadline)
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *pgproto3.ErrorResponse:
			return refusal(m)
		case *pgproto3.ReadyForQuery:
			return nil
		}
	}
}

func (r *receiver) run(ctx context.Context) error {
	for {
		if err := r.answerIfDue(ctx, false); err != nil {
			return err
		}
		m, err := r.receive(ctx)
		if err != nil {
			return err
		}
		if m == nil {
			continue
		}
		if err := r.handle(ctx, m); err != nil {
			return err
		}
		if err := r.receiveRest(ctx); err != nil {
			return err
		}
		few := len(r.batch) < smallPiece
		if err := r.queue(ctx); err != nil {
			return err
		}
		if r.lagging && few {
			time.Sleep(pieceTime)
		}
	}
}

// receive waits for the next message; nil when it is time to answer.
func (r *receiver) receive(ctx context.Context) (pgproto3.BackendMessage, error) {
	deadline, cancel := context.WithDeadline(ctx, r.answered.Add(statusInterval))
	defer cancel()
	m, err := r.conn.ReceiveMessage(deadline)
	return r.received(ctx, m, err)
}

// receiveRest takes what has come with a message, without the price of a context for each:
// the connection's own deadline bounds the wait for a message that has come in part.
func (r *receiver) receiveRest(ctx context.Context) error {
	if r.conn.Frontend().ReadBufferLen() == 0 {
		return nil
	}
	conn := r.conn.Conn()
	if err := conn.SetReadDeadline(time.Now().Add(statusInterval)); err != nil {
		return fmt.Errorf("receiving: %w", err)
	}
	for r.conn.Frontend().ReadBufferLen() > 0 && len(r.batch) < maxMessages && len(r.copied) < maxMessageBytes {
		m, err := r.conn.ReceiveMessage(context.Background())
		if m, err = r.received(ctx, m, err); err != nil {
			return err
		}
		if m == nil {
			break
		}
		if err := r.handle(ctx, m); err != nil {
			return err
		}
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("receiving: %w", err)
	}
	return nil
}

// received tells what a wait has come to: a message, a failure, or neither.
func (r *receiver) received(ctx context.Context, m pgproto3.BackendMessage, err error) (pgproto3.BackendMessage, error) {
	if err == nil {
		r.heard = time.Now()
		return m, nil
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !pgconn.Timeout(err):
		return nil, fmt.Errorf("receiving: %w", err)
	case time.Since(r.heard) > maxSilence:
		return nil, fmt.Errorf("receiving: the server has said nothing for %v", maxSilence)
	}
	return nil, nil
}

func (r *receiver) handle(ctx context.Context, m pgproto3.BackendMessage) error {
	switch m := m.(type) {
	case *pgproto3.CopyData:
		return r.copyData(ctx, m.Data)
	case *pgproto3.ErrorResponse:
		return fmt.Errorf("the stream ended: %w", refusal(m))
	case *pgproto3.NoticeResponse, *pgproto3.ParameterStatus:
		return nil
	case *pgproto3.CopyDone, *pgproto3.CommandComplete:
		return errors.New("the server ended the stream")
	default:
		return fmt.Errorf("unexpected %T in the stream", m)
	}
}

// refusal is an error with which the server ends the stream, whoever reads it there.
func refusal(m *pgproto3.ErrorResponse) error {
	if m.Code == undefinedObject || strings.HasPrefix(m.Code, internalErrors) {
		return fmt.Errorf("%w: %s", errUnreadable, m.Message)
	}
	return pgconn.ErrorResponseToPgError(m)
}

func (r *receiver) copyData(ctx context.Context, data []byte) error {
	if len(data) == 0 {
		return errors.New("empty message in the stream")
	}
	switch data[0] {
	case pglogrepl.PrimaryKeepaliveMessageByteID:
		k, err := pglogrepl.ParsePrimaryKeepaliveMessage(data[1:])
		if err != nil {
			return fmt.Errorf("reading a keepalive: %w", err)
		}
		r.batch = append(r.batch, message{keepalive: k.ServerWALEnd})
		return r.answerIfDue(ctx, k.ReplyRequested)
	case pglogrepl.XLogDataByteID:
		x, err := pglogrepl.ParseXLogData(data[1:])
		if err != nil {
			return fmt.Errorf("reading WAL data: %w", err)
		}
		// The connection reuses its buffer.
		at := len(r.copied)
		r.copied = append(r.copied, x.WALData...)
		m := message{data: r.copied[at:len(r.copied):len(r.copied)]}
		if len(m.data) > 0 && pglogrepl.MessageType(m.data[0]) == pglogrepl.MessageTypeBegin {
			m.lag = lagOf(x)
			r.lagging = isLate(m.lag)
		}
		r.batch = append(r.batch, m)
		return nil
	default:
		return fmt.Errorf("unknown message %q in the stream", data[0])
	}
}

// epoch is what PostgreSQL counts microseconds from.
var epoch = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// lagOf is how long after its commit a transaction was sent, by the clock of the server, which sends the
// former time with the message that begins it and the latter with every message. Both times are of one clock,
// but where a standby sends what its primary has committed.
func lagOf(x pglogrepl.XLogData) time.Duration {
	from := &messageReader{rest: x.WALData}
	from.bytes(9) // the kind of the message, and where the commit begins
	committed := time.Duration(from.lsn()) * time.Microsecond
	if from.short {
		return 0 // the applier says so
	}
	return x.ServerTime.Sub(epoch.Add(committed))
}

// queue hands the messages to the applier and keeps answering while it is busy.
func (r *receiver) queue(ctx context.Context) error {
	defer func() { r.heard = time.Now() }() // nobody listened meanwhile
	batch := r.batch
	r.batch, r.copied = make([]message, 0, len(batch)), make([]byte, 0, len(r.copied)) // the next is as large
	select {
	case r.messages <- batch:
		return nil
	default:
	}
	for {
		select {
		case r.messages <- batch:
			return nil
		case <-time.After(statusInterval):
			if err := r.answerIfDue(ctx, true); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// answerIfDue acknowledges what the store holds. All three positions are set:
// pglogrepl would copy an absent flush position from the write position.
func (r *receiver) answerIfDue(ctx context.Context, now bool) error {
	if !now && time.Since(r.answered) < statusInterval {
		return nil
	}
	r.failpoint(FailBeforeAcknowledge)
	stored := r.ack.lsn()
	err := pglogrepl.SendStandbyStatusUpdate(ctx, r.conn, pglogrepl.StandbyStatusUpdate{
		WALWritePosition: stored, WALFlushPosition: stored, WALApplyPosition: stored,
		ReplyRequested: time.Since(r.heard) > askAfter,
	})
	if err != nil {
		return fmt.Errorf("acknowledging: %w", err)
	}
	r.answered = time.Now()
	return nil
}
