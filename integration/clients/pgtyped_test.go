package clients

import (
	"io"
	"net"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

var typed = modules{name: "typed", report: "orm"}

// TestPgTyped has PgTyped make types of queries, and the queries run. It reads an answer only
// if it comes after PgTyped heard that its own message was written, which TLS of Node.js
// may tell it later: so it speaks through a tunnel, and the queries without one.
func TestPgTyped(t *testing.T) {
	heavy(t)
	t.Parallel()
	rig.Need(t, "npm", rig.Program("node") != "" && rig.Program("npm") != "")
	folder := typed.install(t)
	compare(t, "pgtyped", func(t *testing.T, w way) []step {
		t.Helper()
		port := tunnel(t, w)
		return program([]string{"FOLDER=" + folder, "TUNNEL=" + strconv.Itoa(port)}, "node", filepath.Join(folder, "pgtyped.mjs"))(t, w)
	})
}

// tunnel takes connections without TLS, makes them ones with it on a way, and returns its port.
func tunnel(t *testing.T, w way) (port int) {
	t.Helper()
	listener := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	var all sync.WaitGroup
	t.Cleanup(func() {
		_ = listener.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // the test has ended
			}
			server, err := encrypted(w)
			if err != nil {
				t.Errorf("%s: %v", w.name, err)
				_ = client.Close()
				return
			}
			all.Go(func() { relay(client, server) })
			all.Go(func() { relay(server, client) })
		}
	})
	return listener.Addr().(*net.TCPAddr).Port
}

// relay copies what comes on a connection to another one until one of them ends, and ends both.
func relay(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
	_ = from.Close()
}
