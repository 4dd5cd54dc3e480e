package chaos

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// holdings is what sessions hold of the process.
type holdings struct{ goroutines, descriptors int }

// held is what is held now. Where the system does not tell descriptors they are 0. A
// reader in the background of one of pgx's connections, which begins when a write takes
// long, is none of the proxy's: its connection counts.
func held() holdings {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		open = nil
	}
	return holdings{runtime.NumGoroutine() - strings.Count(string(stacks()), "bgreader.(*BGReader).bgRead("), len(open)}
}

// expectReleased waits until no more is held than before.
func expectReleased(t testing.TB, before holdings) {
	t.Helper()
	var now holdings
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if now = held(); now.goroutines <= before.goroutines && now.descriptors <= before.descriptors {
			return
		}
	}
	t.Errorf("held are %+v, before %+v:\n%s", now, before, stacks())
}

// expectNoConnections waits until a server has seen the end of each of its connections,
// which it sees after the proxy has let go of them.
func expectNoConnections(t testing.TB, server *Server) {
	t.Helper()
	var left int
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if left = server.Connections(); left == 0 {
			return
		}
	}
	t.Errorf("%d upstream connections are left", left)
}

// startBefore runs a proxy before a server that is a model.
func startBefore(t testing.TB, server *Server, gate JudgingGate) *Front {
	t.Helper()
	upstream, err := server.Upstream()
	if err != nil {
		t.Fatal(err)
	}
	config, err := Config(gate, upstream)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxSessions = 2000
	config.Pool.IdleTimeout = -1
	front, err := Start(config)
	if err != nil {
		t.Fatal(err)
	}
	return front
}

// TestNothingIsLeft has sessions end in all ways. What they held is released while the
// proxy runs.
func TestNothingIsLeft(t *testing.T) {
	gate := NewJudgingGate()
	server, err := Listen(gate)
	if err != nil {
		t.Fatal(err)
	}
	front := startBefore(t, server, gate)
	const atOnce, each = 16, 25
	many := func() {
		var all sync.WaitGroup
		for i := range atOnce {
			all.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(i), 1))
				for n := range each {
					if err := endSomehow(front, rng, n); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
	}
	many() // what is made once is made
	time.Sleep(100 * time.Millisecond)
	before := held()
	before.goroutines += 4 // timers and threads of the runtime come and go
	before.descriptors += 2
	many()
	expectReleased(t, before)
	expectNoConnections(t, server)
	if err := front.Stop(); err != nil {
		t.Error(err)
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
}

// endSomehow opens a session, or begins to, and ends it in the n-th of all ways.
func endSomehow(front *Front, rng *rand.Rand, n int) error {
	way := rng.IntN(3)
	login := front.Login(way == 0, way == 1)
	if n%8 == 0 {
		login.Password = "another password"
		if _, err := login.Dial(); err == nil {
			return fmt.Errorf("let in with %q", login.Password)
		}
		return nil
	}
	client, err := login.Dial()
	if err != nil {
		return err
	}
	defer func() { _ = client.Raw.Close() }()
	if err := client.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	query := AppendMessage(nil, 'Q', []byte(Statement{Verb: Rows, ID: n, A: 1000, B: 1000}.Text()+"\x00"))
	switch n % 8 {
	case 1:
		_, err = client.Write(AppendMessage(nil, 'X', nil))
	case 2:
		client.reset()
	case 3: // with answers on their way
		_, err = client.Write(query)
		client.reset()
	case 4: // inside a message
		_, err = client.Write(query[:10])
	case 5: // inside a transaction and a pipeline
		_, err = client.Write(AppendMessage(query, 'P', []byte("\x00"+Statement{Verb: Begin}.Text()+"\x00\x00\x00")))
	case 6: // by what is no message
		if _, err = client.Write([]byte("no message")); err == nil {
			err = client.expectEnd(nil)
		}
	default:
		client.halfClose()
		err = client.expectEnd(nil)
	}
	return err
}
