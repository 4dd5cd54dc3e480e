package pool

import (
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// scripted answers whatever is asked with the same bytes.
type scripted struct {
	net.Conn
	io.Reader
}

func (s scripted) Read(p []byte) (int, error)  { return s.Reader.Read(p) }
func (s scripted) Write(p []byte) (int, error) { return len(p), nil }

// FuzzAsk has a server answer anything.
func FuzzAsk(f *testing.F) {
	f.Add([]byte("T\x00\x00\x00\x06\x00\x00D\x00\x00\x00\x0b\x00\x01\x00\x00\x00\x01aC\x00\x00\x00\x05\x00Z\x00\x00\x00\x05IZ\x00\x00\x00\x05T"))
	f.Add([]byte("E\x00\x00\x00\x10C57P01\x00Mbye\x00\x00\x00Z\x00\x00\x00\x05IS\x00\x00\x00\x08a\x00b\x00Z\x00\x00\x00\x05I"))
	f.Add([]byte("D\x00\x00\x00\x0a\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, said []byte) {
		answers, err := ask(scripted{Reader: bytes.NewReader(said)}, func(string, string) {}, query("one"), query("two"))
		if (err == nil) != (len(answers) == 2) {
			t.Errorf("%v, %v", answers, err)
		}
		if err == nil {
			_, _ = stateOf(answers[0], answers[1])
		}
		var r reading
		_ = r.parse([]*pgconn.Result{{Rows: [][][]byte{{said, said, said, said}}}})
	})
}
