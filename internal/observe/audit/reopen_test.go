package audit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

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
