package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestFullDiskRefuses fills the disk in the middle of a line, at every byte of one.
func TestFullDiskRefuses(t *testing.T) {
	t.Parallel()
	whole := len((&Record{Event: Statement, User: "ann", Session: 1, Shape: "SELECT ?", Time: time.Unix(0, 0)}).append(nil))
	for room := 0; room <= 2*whole; room += 7 {
		file := &disk{room: room}
		l := open(t, Options{}, file)
		for i := range 3 {
			l.Add(numbered(i))
		}
		eventually(t, "statements are refused", func() bool { return l.Err() != nil })
		if state := l.Err().(interface{ SQLState() string }).SQLState(); state != "57P03" || !l.Stats().Failing {
			t.Errorf("refused with %s", state)
		}
		l.Add(numbered(3)) // it was under way
		file.free()
		eventually(t, "they are served again", func() bool { return l.Err() == nil })
		shut(t, l)
		inOrder(t, file.String(), 4)
		if s := l.Stats(); s.Written != 4 || s.Dropped != 0 || s.Failures == 0 {
			t.Errorf("with room for %d bytes: %+v", room, s)
		}
	}
}

func TestFullDiskDrops(t *testing.T) {
	t.Parallel()
	file := &disk{room: 40}
	l := open(t, Options{OnFailure: Drop}, file)
	l.Add(numbered(0))
	eventually(t, "it is lost", func() bool { return l.Stats().Dropped == 1 })
	if l.Err() != nil {
		t.Error("statements are refused")
	}
	file.free()
	l.Add(numbered(1))
	shut(t, l)
	lines := strings.Split(file.String(), "\n")
	if len(lines) != 3 || len(lines[0]) != 40 || !json.Valid([]byte(lines[1])) {
		t.Errorf("written was %q", lines)
	}
	if s := l.Stats(); s.Written != 1 || s.Dropped != 1 {
		t.Errorf("%+v", s)
	}
}

// TestFailingSync has a disk lose what it was given, which it says once: the file
// is opened again, and what may be missing is told.
func TestFailingSync(t *testing.T) {
	t.Parallel()
	bad, again := &disk{room: -1, fail: errors.New("input/output error")}, &disk{room: -1}
	var said bytes.Buffer
	l := open(t, Options{Logger: slog.New(slog.NewTextHandler(&said, nil))}, bad, again)
	for i := range 3 {
		l.Add(numbered(i))
	}
	eventually(t, "the disk fails", func() bool { return l.Stats().Failures > 0 })
	l.Add(numbered(3)) // it was under way
	eventually(t, "statements are served again", func() bool { return l.Err() == nil })
	shut(t, l)
	inOrder(t, bad.String()+again.String(), 4)
	lost := strings.Count(bad.String(), "\n")
	if s := l.Stats(); s.Written != 4 || s.Unsure != uint64(lost) || lost == 0 || s.Failures == 0 || s.Dropped != 0 {
		t.Errorf("%+v with %d records on the bad disk", s, lost)
	}
	if !strings.Contains(said.String(), fmt.Sprintf("records=%d", lost)) {
		t.Errorf("the log says %s", said.String())
	}
}
