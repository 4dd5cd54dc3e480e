package chaos

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

const (
	idleSessions = 1000

	// maxIdleBytes is what an idle session may take.
	maxIdleBytes = 40 << 10

	// otherSide tells this test binary to be clients and server.
	otherSide = "KPROXY_CHAOS_OTHER_SIDE"
)

// TestMemoryOfIdleSessions measures what sessions take that have run a statement each and
// are idle. Their clients and the server are in another process.
func TestMemoryOfIdleSessions(t *testing.T) {
	if os.Getenv(otherSide) != "" {
		if err := beOtherSide(); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, encrypted := range []bool{false, true} {
		t.Run(fmt.Sprintf("TLS=%t", encrypted), func(t *testing.T) { measureIdle(t, encrypted) })
	}
}

func measureIdle(t *testing.T, encrypted bool) {
	other := exec.Command(os.Args[0], "-test.run=^TestMemoryOfIdleSessions$")
	other.Env = append(os.Environ(), otherSide+"=1")
	other.Stderr = os.Stderr
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	folder, err := said.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	// The gate's signatures are of this process; the server in the other takes none.
	front := startBefore(t, &Server{folder: strings.TrimSpace(folder)}, NewJudgingGate())
	begun := memory()
	if _, err := fmt.Fprintf(in, "%s %t\n", front.TCP, encrypted); err != nil {
		t.Fatal(err)
	}
	if _, err := said.ReadString('\n'); err != nil {
		t.Fatal("the sessions have not been opened: ", err)
	}
	each := (memory() - begun) / idleSessions
	t.Logf("%d bytes for each of %d idle sessions, TLS %t", each, idleSessions, encrypted)
	if each > maxIdleBytes {
		t.Errorf("an idle session takes %d bytes, more than %d", each, maxIdleBytes)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := other.Wait(); err != nil {
		t.Error(err)
	}
	if err := front.Stop(); err != nil {
		t.Error(err)
	}
}

// memory is what the heap and the stacks take, garbage excluded.
func memory() int64 {
	time.Sleep(500 * time.Millisecond) // what ends has ended
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// beOtherSide is the other process: it tells where its server listens, is told where the
// proxy does, opens sessions and keeps them until its input ends.
func beOtherSide() error {
	server, err := Listen(NewJudgingGate())
	if err != nil {
		return err
	}
	fmt.Println(server.folder)
	in := bufio.NewReader(os.Stdin)
	var address string
	var encrypted bool
	if _, err := fmt.Fscanln(in, &address, &encrypted); err != nil {
		return err
	}
	login := (&Front{TCP: address}).Login(false, encrypted)
	clients := make([]*Client, idleSessions)
	for i := range clients {
		if clients[i], err = login.Dial(); err != nil {
			return err
		}
		if _, err := clients[i].Write(AppendMessage(nil, 'Q', []byte(Statement{Verb: Rows, A: 1}.Text()+"\x00"))); err != nil {
			return err
		}
		for kind := byte(0); kind != 'Z'; {
			if kind, _, err = ReadMessage(clients[i].In); err != nil {
				return err
			}
		}
	}
	fmt.Println("ready")
	_, _ = in.ReadByte()
	for _, client := range clients {
		_ = client.Raw.Close()
	}
	return server.Close()
}
