package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds what must happen soon; nothing is measured against it.
const patience = time.Minute

// disk is a file that a test has at its mercy.
type disk struct {
	mu   sync.Mutex
	text bytes.Buffer
	room int   // bytes until the disk is full; negative = no bound
	fail error // of Sync
	held chan struct{}
}

func (d *disk) Write(b []byte) (int, error) {
	d.mu.Lock()
	held := d.held
	d.mu.Unlock()
	if held != nil {
		<-held
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(b)
	if d.room >= 0 {
		n = min(n, d.room)
		d.room -= n
	}
	d.text.Write(b[:n])
	if n < len(b) {
		return n, errors.New("no space left on device")
	}
	return n, nil
}

func (d *disk) Sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fail
}

func (*disk) Close() error { return nil }

func (d *disk) free() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = -1
}

func (d *disk) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.String()
}

func open(t *testing.T, o Options, files ...*disk) *Log {
	t.Helper()
	o.Pause = 5 * time.Millisecond
	o.Open = func() (File, error) {
		if len(files) == 0 {
			return nil, errors.New("no such file")
		}
		file := files[0]
		if len(files) > 1 {
			files = files[1:]
		}
		return file, nil
	}
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func shut(t *testing.T, l *Log) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := l.Close(ctx); err != nil {
		t.Error(err)
	}
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it does not come about that %s", what)
		}
	}
}

// numbered is a record that can be told from others.
func numbered(i int) Record {
	return Record{Event: Statement, User: "ann", Session: uint64(i + 1), Shape: "SELECT ?", Time: time.Unix(int64(i), 0)}
}

// sessions are the numbers in the lines, each of which must be JSON.
func sessions(t *testing.T, text string) []int {
	t.Helper()
	var found []int
	for line := range strings.Lines(text) {
		var read struct{ Session int }
		if err := json.Unmarshal([]byte(line), &read); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		found = append(found, read.Session)
	}
	return found
}

func inOrder(t *testing.T, text string, n int) {
	t.Helper()
	found := sessions(t, text)
	if len(found) != n {
		t.Fatalf("%d records, not %d", len(found), n)
	}
	for i, session := range found {
		if session != i+1 {
			t.Fatalf("record %d is of session %d", i, session)
		}
	}
}
