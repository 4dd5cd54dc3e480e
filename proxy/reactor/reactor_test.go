package reactor

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience bounds what must happen soon; nothing is measured against it.
const patience = time.Minute

// sockets returns a connection and its peer.
func sockets(t *testing.T) (*Conn, net.Conn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]net.Conn
	for i, fd := range fds {
		file := os.NewFile(uintptr(fd), "socket")
		if ends[i], err = net.FileConn(file); err != nil {
			t.Fatal(err)
		}
		_ = file.Close()
	}
	conn := Wrap(ends[0])
	t.Cleanup(func() { _, _ = conn.Close(), ends[1].Close() })
	return conn, ends[1]
}

func runLoop(t *testing.T) *Loop {
	t.Helper()
	l, err := NewLoop()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- l.Run() }()
	t.Cleanup(func() {
		l.Close()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("the loop does not end")
		}
		if l.Post(func() {}) {
			t.Error("a closed loop takes work")
		}
	})
	return l
}

// on does something in the loop and waits for it.
func (l *Loop) on(t *testing.T, f func()) {
	t.Helper()
	done := make(chan bool)
	if !l.Post(func() { f(); close(done) }) {
		t.Fatal("the loop is closed")
	}
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("the loop does not get there")
	}
}

// TestDetached gives a connection to and fro: nothing is lost, and nothing waits.
func TestDetached(t *testing.T) {
	t.Parallel()
	conn, peer := sockets(t)
	buffer := make([]byte, 16)
	for round := range 3 {
		if err := conn.Detach(); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(buffer); !errors.Is(err, ErrNotReady) || !ErrNotReady.Timeout() {
			t.Fatal(err)
		}
		if _, err := peer.Write([]byte("early")); err != nil {
			t.Fatal(err)
		}
		if round%2 == 0 {
			if n, err := conn.Read(buffer); err != nil || string(buffer[:n]) != "early" {
				t.Fatal(n, err)
			}
		}
		if err := conn.Attach(); err != nil {
			t.Fatal(err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if round%2 == 1 {
			if n, err := conn.Read(buffer); err != nil || string(buffer[:n]) != "early" {
				t.Fatal(n, err)
			}
		}
	}
	_ = peer.Close()
	if err := conn.Detach(); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(buffer); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
}

// TestUnsent writes more than the kernel takes, in a loop and behind it: the peer gets
// all, in order.
func TestUnsent(t *testing.T) {
	t.Parallel()
	conn, peer := sockets(t)
	l := runLoop(t)
	sent := make([]byte, 5<<20)
	rand.Read(sent)
	if err := conn.Detach(); err != nil {
		t.Fatal(err)
	}
	drained := make(chan error, 1)
	l.on(t, func() {
		err := l.Add(conn, func(e Event) {
			if !e.Writable {
				return
			}
			if err := conn.Flush(); err != nil || conn.Unsent() == 0 {
				l.Remove(conn)
				drained <- err
			}
		})
		if err != nil {
			t.Error(err)
		}
		for rest := sent[:4<<20]; len(rest) > 0; rest = rest[1<<20:] {
			if n, err := conn.Write(rest[:1<<20]); n != 1<<20 || err != nil {
				t.Error(n, err)
			}
		}
		if conn.Unsent() == 0 {
			t.Error("the kernel has taken 4 MiB at once")
		}
		if err := conn.Watch(false, true); err != nil {
			t.Error(err)
		}
	})
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(peer, got[:4<<20]); err != nil {
		t.Fatal(err)
	}
	if err := <-drained; err != nil {
		t.Fatal(err)
	}
	// What the kernel does not take before Attach is sent behind it.
	conn.Cork()
	if _, err := conn.Write(sent[4<<20 : 5<<20-10]); err != nil || conn.Unsent() == 0 {
		t.Fatal(err)
	}
	if err := conn.Attach(); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = conn.Write(sent[5<<20-10:]) }()
	if _, err := io.ReadFull(peer, got[4<<20:]); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, sent) {
		t.Error("something else has arrived")
	}
}

// TestGone hears of a peer that is gone while nothing is watched for, once.
func TestGone(t *testing.T) {
	t.Parallel()
	conn, peer := sockets(t)
	l := runLoop(t)
	if err := conn.Detach(); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var heard []Event
	l.on(t, func() {
		err := errors.Join(l.Add(conn, func(e Event) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, e)
			if e.Gone && !e.Readable {
				conn.Mute()
			}
		}), conn.Watch(false, false))
		if err != nil {
			t.Error(err)
		}
	})
	if _, err := peer.Write([]byte("last words")); err != nil {
		t.Fatal(err)
	}
	_ = peer.Close()
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		mu.Lock()
		n := len(heard)
		mu.Unlock()
		if n > 0 {
			break
		}
		if time.Since(begin) > patience {
			t.Fatal("nothing is heard")
		}
	}
	l.on(t, func() {})
	l.on(t, func() {
		mu.Lock()
		defer mu.Unlock()
		if len(heard) != 1 || !heard[0].Gone {
			t.Errorf("heard %+v", heard)
		}
		buffer := make([]byte, 16)
		if n, err := conn.Read(buffer); err != nil || string(buffer[:n]) != "last words" {
			t.Error(n, err)
		}
		l.Remove(conn)
	})
}

// TestPost has many goroutines post: everything is done, in each one's order.
func TestPost(t *testing.T) {
	t.Parallel()
	l := runLoop(t)
	const posters, each = 8, 2000
	last := make([]int, posters)
	var posting sync.WaitGroup
	for p := range posters {
		posting.Go(func() {
			for i := range each {
				l.Post(func() {
					if last[p] != i {
						t.Errorf("%d comes after %d", i, last[p])
					}
					last[p] = i + 1
				})
			}
		})
	}
	posting.Wait()
	l.on(t, func() {
		for p, n := range last {
			if n != each {
				t.Errorf("%d of %d of poster %d", n, each, p)
			}
		}
	})
}

func TestEvery(t *testing.T) {
	t.Parallel()
	l, err := NewLoop()
	if err != nil {
		t.Fatal(err)
	}
	ticks := 0
	l.Every(time.Millisecond, func(time.Time) {
		if ticks++; ticks == 3 {
			l.Close()
		}
	})
	if err := l.Run(); err != nil || ticks < 3 {
		t.Error(ticks, err)
	}
}
