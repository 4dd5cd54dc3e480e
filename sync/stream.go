package sync

import (
	"context"
	"errors"
	"fmt"
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
	// queued bounds the messages that wait for the applier.
	queued = 1024
)

// message is one message of the stream: WAL data, or the position of a keepalive.
type message struct {
	data      []byte // a logical replication message; nil for a keepalive
	keepalive pglogrepl.LSN
}

// receiver reads the stream and answers the server, apart from applying, so
// that a long transaction never runs into wal_sender_timeout.
type receiver struct {
	conn     *pgconn.PgConn
	messages chan message
	// stored is the position of the store: what may be acknowledged.
	stored    *atomic.Uint64
	failpoint func(string)
	answered  time.Time
}

// stream applies the changes that follow the position, until an error.
func (s *session) stream(ctx context.Context) error {
	err := pglogrepl.StartReplication(ctx, s.replication, s.Slot, s.position, pglogrepl.StartReplicationOptions{
		Mode:       pglogrepl.LogicalReplication,
		PluginArgs: []string{"proto_version '1'", "publication_names " + quotePublication(s.Publication)},
	})
	if err != nil {
		return fmt.Errorf("starting replication: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stored := new(atomic.Uint64)
	stored.Store(uint64(s.position))
	r := &receiver{
		conn: s.replication, messages: make(chan message, queued), stored: stored,
		failpoint: s.Failpoint,
	}
	received := make(chan error, 1)
	go func() {
		received <- guard(s.Logger, func() error { return r.run(ctx) })
		close(r.messages)
	}()
	a := &applier{session: s, messages: r.messages, stored: stored, relations: make(map[uint32]*relation)}
	applied := guard(s.Logger, func() error { return a.run(ctx) })
	cancel()
	if ended := <-received; applied == nil {
		return ended // why there was nothing left to apply
	}
	return applied
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
	}
}

// receive waits for the next message; nil when it is time to answer.
func (r *receiver) receive(ctx context.Context) (pgproto3.BackendMessage, error) {
	deadline, cancel := context.WithDeadline(ctx, r.answered.Add(statusInterval))
	defer cancel()
	m, err := r.conn.ReceiveMessage(deadline)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if pgconn.Timeout(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("receiving: %w", err)
	}
	return m, nil
}

func (r *receiver) handle(ctx context.Context, m pgproto3.BackendMessage) error {
	switch m := m.(type) {
	case *pgproto3.CopyData:
		return r.copyData(ctx, m.Data)
	case *pgproto3.ErrorResponse:
		return fmt.Errorf("the stream ended: %w", pgconn.ErrorResponseToPgError(m))
	case *pgproto3.NoticeResponse, *pgproto3.ParameterStatus:
		return nil
	default:
		return fmt.Errorf("unexpected %T in the stream", m)
	}
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
		if err := r.queue(ctx, message{keepalive: k.ServerWALEnd}); err != nil {
			return err
		}
		return r.answerIfDue(ctx, k.ReplyRequested)
	case pglogrepl.XLogDataByteID:
		x, err := pglogrepl.ParseXLogData(data[1:])
		if err != nil {
			return fmt.Errorf("reading WAL data: %w", err)
		}
		// The connection reuses its buffer.
		return r.queue(ctx, message{data: append([]byte(nil), x.WALData...)})
	default:
		return fmt.Errorf("unknown message %q in the stream", data[0])
	}
}

// queue hands a message to the applier and keeps answering while it is busy.
func (r *receiver) queue(ctx context.Context, m message) error {
	for {
		timer := time.NewTimer(statusInterval)
		select {
		case r.messages <- m:
			timer.Stop()
			return nil
		case <-timer.C:
			if err := r.answerIfDue(ctx, true); err != nil {
				return err
			}
		case <-ctx.Done():
			timer.Stop()
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
	stored := pglogrepl.LSN(r.stored.Load())
	err := pglogrepl.SendStandbyStatusUpdate(ctx, r.conn, pglogrepl.StandbyStatusUpdate{
		WALWritePosition: stored, WALFlushPosition: stored, WALApplyPosition: stored,
	})
	if err != nil {
		return fmt.Errorf("acknowledging: %w", err)
	}
	r.answered = time.Now()
	return nil
}
