package connlimit

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// counter serves HTTP to 32 connections at most: "/slow" answers when it is released, and
// who asks for "/known" or "/known/slow" is no stranger.
type counter struct {
	t        *testing.T
	listener *limited
	begun    chan struct{}
	release  chan struct{}
}

func newCounter(t *testing.T) *counter {
	t.Helper()
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{t: t, begun: make(chan struct{}), release: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) {})
	slow := func(http.ResponseWriter, *http.Request) {
		close(c.begun)
		<-c.release
	}
	known := func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			Recognize(r.Context(), true)
			next(w, r)
		}
	}
	mux.HandleFunc("/slow", slow)
	mux.HandleFunc("/known", known(func(http.ResponseWriter, *http.Request) {}))
	mux.HandleFunc("/known/slow", known(slow))
	mux.HandleFunc("/body", func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	l := Listener(inner, 32, server)
	c.listener = l.(*limited)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return c
}

// visitor is one connection, from an address of this machine.
type visitor struct {
	net.Conn
	answers *bufio.Reader
}

func (c *counter) visit(from string) visitor {
	c.t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.DialContext(c.t.Context(), "tcp", c.listener.Addr().String())
	if err != nil {
		c.t.Skipf("this machine has no address %s: %v", from, err)
	}
	c.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	return visitor{conn, bufio.NewReader(conn)}
}

func (v visitor) send(text string) { _, _ = io.WriteString(v, text) }

func (v visitor) hear() error {
	answer, err := http.ReadResponse(v.answers, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %w", answer.Status, err)
	}
	return nil
}

const (
	askForNothing   = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
	askForSlow      = "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n"
	askForKnown     = "GET /known HTTP/1.1\r\nHost: localhost\r\n\r\n"
	askForKnownSlow = "GET /known/slow HTTP/1.1\r\nHost: localhost\r\n\r\n"
	askWithBody     = "POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
)

// TestNobodyKeepsOthersOut opens more connections than there are places, in the ways in
// which they can be kept, and asks on a further one.
func TestNobodyKeepsOthersOut(t *testing.T) {
	t.Parallel()
	for name, kept := range map[string]func(visitor) error{
		"silent":      func(visitor) error { return nil },
		"begun":       func(v visitor) error { v.send("GET / HT"); return nil },
		"idle":        func(v visitor) error { v.send(askForNothing); return v.hear() },
		"half a body": func(v visitor) error { v.send(askWithBody + "half"); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCounter(t)
			for range 200 {
				if err := kept(c.visit("127.0.0.1")); err != nil {
					t.Fatal(err)
				}
			}
			v := c.visit("127.0.0.1")
			v.send(askForNothing)
			if err := v.hear(); err != nil {
				t.Errorf("the next one is not answered: %v", err)
			}
			c.listener.mutex.Lock()
			defer c.listener.mutex.Unlock()
			if n := len(c.listener.open); n > c.listener.most {
				t.Errorf("%d connections are open", n)
			}
		})
	}
}

// TestCrowdsTakeTheirOwnPlaces has somebody idle, and somebody wait for an answer, while
// a crowd from elsewhere comes and goes.
func TestCrowdsTakeTheirOwnPlaces(t *testing.T) {
	t.Parallel()
	c := newCounter(t)
	idle, busy := c.visit("127.0.0.2"), c.visit("127.0.0.1")
	idle.send(askForNothing)
	if err := idle.hear(); err != nil {
		t.Fatal(err)
	}
	busy.send(askForSlow)
	<-c.begun
	for range 200 {
		c.visit("127.0.0.1")
	}
	last := c.visit("127.0.0.1") // when it is answered, all before it have been taken in
	last.send(askForNothing)
	if err := last.hear(); err != nil {
		t.Fatal(err)
	}
	idle.send(askForNothing)
	if err := idle.hear(); err != nil {
		t.Errorf("who was idle has lost its place: %v", err)
	}
	close(c.release)
	if err := busy.hear(); err != nil {
		t.Errorf("who was being answered has lost its place: %v", err)
	}
}

// TestStrangersTakePlacesFromStrangers has somebody known be idle, and another wait for an
// answer, while strangers at the same address begin one request after the other.
func TestStrangersTakePlacesFromStrangers(t *testing.T) {
	t.Parallel()
	c := newCounter(t)
	idle, busy := c.visit("127.0.0.1"), c.visit("127.0.0.1")
	idle.send(askForKnown)
	if err := idle.hear(); err != nil {
		t.Fatal(err)
	}
	busy.send(askForKnownSlow)
	<-c.begun
	for range 200 {
		c.visit("127.0.0.1").send(askWithBody + "half")
	}
	last := c.visit("127.0.0.1") // when it is answered, all before it have been taken in
	last.send(askForNothing)
	if err := last.hear(); err != nil {
		t.Fatal(err)
	}
	idle.send(askForNothing)
	if err := idle.hear(); err != nil {
		t.Errorf("who was idle has lost its place: %v", err)
	}
	close(c.release)
	if err := busy.hear(); err != nil {
		t.Errorf("who was being answered has lost its place: %v", err)
	}
}
