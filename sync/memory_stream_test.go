package sync

import (
	"context"
	"encoding/binary"
	"net"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// newPipedServer is a server at the other end of pipes, so that time can be let pass.
func newPipedServer(t *testing.T, answers ...answer) *memoryServer {
	t.Helper()
	m := &memoryServer{t: t, answers: answers, refuses: -1}
	var err error
	if m.owner, err = pgx.ParseConfig("postgres://owner@127.0.0.1/hospital?sslmode=disable"); err != nil {
		t.Fatal(err)
	}
	m.owner.DialFunc = func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go m.serve(pipeEnd{there})
		return pipeEnd{here}, nil
	}
	return m
}

// pipeEnd is an end of a pipe to which nothing at all is written at once.
type pipeEnd struct{ net.Conn }

func (p pipeEnd) Write(text []byte) (int, error) {
	if len(text) == 0 {
		return 0, nil
	}
	return p.Conn.Write(text)
}

// say sends what a test has for the stream.
func (s *memorySession) say() {
	for message := range s.streaming {
		text, err := message.Encode(nil)
		if err != nil {
			s.t.Error(err)
		}
		if _, err := s.conn.Write(text); err != nil {
			return // closed
		}
	}
}

// walData is a message of the stream with data of the WAL.
func walData(data string) *pgproto3.CopyData {
	text := append([]byte{pglogrepl.XLogDataByteID}, make([]byte, 24)...)
	return &pgproto3.CopyData{Data: append(text, data...)}
}

// keepalive is one that tells how far the server is.
func keepalive(end pglogrepl.LSN, asks bool) *pgproto3.CopyData {
	text := binary.BigEndian.AppendUint64([]byte{pglogrepl.PrimaryKeepaliveMessageByteID}, uint64(end))
	text = append(text, make([]byte, 9)...)
	if asks {
		text[len(text)-1] = 1
	}
	return &pgproto3.CopyData{Data: text}
}

// acknowledged is what an answer in the stream says.
type acknowledged struct {
	after                 time.Duration
	written, flushed, put pglogrepl.LSN
	asks                  bool
}

func acknowledgedBy(data []byte, began time.Time) acknowledged {
	at := func(i int) pglogrepl.LSN { return pglogrepl.LSN(binary.BigEndian.Uint64(data[i:])) }
	return acknowledged{time.Since(began), at(1), at(9), at(17), data[33] == 1}
}
