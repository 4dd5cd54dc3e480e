package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
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

func TestAllIsWrittenInOrder(t *testing.T) {
	t.Parallel()
	file := &disk{room: -1}
	l := open(t, Options{}, file)
	for i := range 5000 {
		l.Add(numbered(i))
	}
	shut(t, l)
	inOrder(t, file.String(), 5000)
	if s := l.Stats(); s.Written != 5000 || s.Dropped != 0 || s.Failures != 0 || s.Queued != 0 || s.Failing {
		t.Errorf("%+v", s)
	}
	l.Add(numbered(0))
	if s := l.Stats(); s.Dropped != 1 {
		t.Errorf("after the end: %+v", s)
	}
}

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

// TestSlowDisk wants statements refused before the queue is full, those under way kept,
// and refusals bounded.
func TestSlowDisk(t *testing.T) {
	t.Parallel()
	file := &disk{room: -1, held: make(chan struct{})}
	l := open(t, Options{Queue: 100}, file)
	l.Add(numbered(0))
	eventually(t, "it is being written", func() bool { return l.Stats().Queued == 0 })
	added := 1
	for ; l.Err() == nil; added++ {
		l.Add(numbered(added))
	}
	if added != 76 {
		t.Errorf("refused after %d records", added)
	}
	for range 100 { // under way
		l.Add(numbered(added))
		added++
	}
	for range 1000 {
		refused := numbered(-1)
		refused.Refused = true
		l.Add(refused)
		l.Add(Record{Event: Rejected})
	}
	if s := l.Stats(); s.Dropped != 2000 || s.Queued != added-1 {
		t.Errorf("%+v after %d", s, added)
	}
	close(file.held)
	eventually(t, "statements are served again", func() bool { return l.Err() == nil })
	shut(t, l)
	inOrder(t, file.String(), added)
}

func TestSlowDiskDrops(t *testing.T) {
	t.Parallel()
	file := &disk{room: -1, held: make(chan struct{})}
	l := open(t, Options{Queue: 100, OnFailure: Drop}, file)
	for i := range 1000 {
		l.Add(numbered(i))
	}
	if s := l.Stats(); l.Err() != nil || s.Queued > 100 || s.Dropped < 800 {
		t.Errorf("%+v, %v", s, l.Err())
	}
	close(file.held)
	shut(t, l)
	if s := l.Stats(); s.Written+s.Dropped != 1000 || len(sessions(t, file.String())) != int(s.Written) {
		t.Errorf("%+v", s)
	}
}

// TestReopenInTheMiddleOfALine wants the line whole in the new file.
func TestReopenInTheMiddleOfALine(t *testing.T) {
	t.Parallel()
	first, second := &disk{room: 250}, &disk{room: -1}
	l := open(t, Options{}, first, second)
	for i := range 10 {
		l.Add(numbered(i))
	}
	eventually(t, "the first is full", func() bool { return l.Err() != nil })
	l.Reopen()
	eventually(t, "the second is written", func() bool { return l.Err() == nil })
	shut(t, l)
	whole := first.String()
	whole = whole[:strings.LastIndexByte(whole, '\n')+1]
	if whole == "" {
		t.Fatal("no whole line is in the first file")
	}
	inOrder(t, whole+second.String(), 10)
}

// tight is a file whose disk is full at first.
type tight struct {
	File
	*disk
	path string
}

func (d *tight) Write(b []byte) (int, error) {
	n, err := d.disk.Write(b)
	_, _ = d.File.Write(b[:n])
	return n, err
}

func (d *tight) Stat() (os.FileInfo, error) { return os.Stat(d.path) }
func (*tight) Sync() error                  { return nil }
func (d *tight) Close() error               { return d.File.Close() }

// TestReopenOfTheSameFile fills the disk in the middle of a line, and has the file, which
// nobody has moved, opened again when there is room, as a reload does.
func TestReopenOfTheSameFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	room := &disk{room: 250}
	l, err := New(Options{Pause: 5 * time.Millisecond, Open: func() (File, error) {
		file, err := Path(path)()
		return &tight{file, room, path}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		l.Add(numbered(i))
	}
	eventually(t, "the disk is full", func() bool { return l.Err() != nil })
	l.Reopen()
	room.free()
	eventually(t, "it is written again", func() bool { return l.Err() == nil })
	shut(t, l)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	inOrder(t, string(text), 10)
}

func TestReopenThatFailsRefuses(t *testing.T) {
	t.Parallel()
	files := []*disk{{room: -1}}
	missing := true
	var mu sync.Mutex
	l, err := New(Options{Pause: 5 * time.Millisecond, Open: func() (File, error) {
		mu.Lock()
		defer mu.Unlock()
		if len(files) > 1 && missing {
			return nil, errors.New("no such folder")
		}
		return files[len(files)-1], nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	files = append(files, &disk{room: -1})
	mu.Unlock()
	l.Reopen()
	eventually(t, "statements are refused", func() bool { return l.Err() != nil })
	mu.Lock()
	missing = false
	mu.Unlock()
	eventually(t, "they are served again", func() bool { return l.Err() == nil })
	l.Add(numbered(0))
	shut(t, l)
	inOrder(t, files[1].String(), 1)
}

func TestPath(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	file, err := Path(path)()
	if err != nil {
		t.Fatal(err)
	}
	_ = file.Close()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Path(path)(); err == nil || !strings.Contains(err.Error(), "0600") {
		t.Errorf("a file that everybody reads: %v", err)
	}
	if _, err := Path(filepath.Join(path, "below"))(); err == nil {
		t.Error("opened below a file")
	}
	device, err := Path(os.DevNull)()
	if err != nil || device.Sync() != nil {
		t.Errorf("a device: %v", err)
	}
}

func FuzzRecord(f *testing.F) {
	f.Add("ann", "SELECT ?", "public.patients", true)
	f.Add("a\"\n\x00\x7f\xff\u2028\u0085é𝄞", "\\", "", false)
	f.Fuzz(func(t *testing.T, user, shape, table string, refused bool) {
		r := Record{
			Event: Statement, User: user, Shape: shape, Tables: []string{table, table}, Refused: refused, Rows: 7, Bytes: 9,
			Session: 3, Duration: 1234567, Client: netip.MustParseAddr("::ffff:10.0.0.1"), SQLState: "42501", Time: time.Unix(1e9, 5000),
		}
		line := r.append(nil)
		if bytes.Count(line, []byte{'\n'}) != 1 || !json.Valid(line) {
			t.Fatalf("%q is no line of JSON", line)
		}
		var read struct {
			Time, User, Shape, Client string
			Tables                    []string
			DurationMS                float64 `json:"duration_ms"`
			Refused                   bool
		}
		if err := json.Unmarshal(line, &read); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint("2001-09-09T01:46:40.000005Z 10.0.0.1 1.234 ", refused, " ", strings.ToValidUTF8(user, "\ufffd"), []string{table, table})
		valid := strings.ToValidUTF8(user+shape+table, "") == user+shape+table
		if got := fmt.Sprint(read.Time, " ", read.Client, " ", read.DurationMS, " ", read.Refused, " ", read.User, read.Tables); valid && got != want || valid && read.Shape != shape {
			t.Errorf("%s, not %s", got, want)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	l, err := New(Options{Open: func() (File, error) { return unlimited{}, nil }, Queue: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	r := numbered(1)
	r.Shape = "SELECT diagnosis, count(*) FROM patients _1 WHERE _1.postcode = ? GROUP BY ? LIMIT ?"
	r.Tables = []string{"public.patients"}
	b.ReportAllocs()
	for b.Loop() {
		l.Add(r)
	}
	_ = l.Close(context.Background())
}

type unlimited struct{}

func (unlimited) Write(b []byte) (int, error) { return len(b), nil }
func (unlimited) Sync() error                 { return nil }
func (unlimited) Close() error                { return nil }
