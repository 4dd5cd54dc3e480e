package proxy

import (
	"errors"
	"io"
	"log/slog"
	"testing"
)

// passingGate lets everything pass as it is. It knows BEGIN.
type passingGate struct{ markingGate }

func (g passingGate) Recall(sql string, in State) (Statement, bool, error) {
	statement, err := g.Rewrite(sql, in)
	return statement, true, err
}

func (passingGate) Rewrite(sql string, _ State) (Statement, error) {
	if sql == "BEGIN" {
		return Statement{SQL: sql, Effects: []any{fakeEffect{"begin", ""}}}, nil
	}
	return Statement{SQL: sql}, nil
}

// exchange is what a client sends and a server answers.
type exchange struct{ request, response []byte }

// benchmarkRelay sends requests of which the server sees each once whole before it
// answers, and allocates nothing itself.
func benchmarkRelay(b *testing.B, first, each exchange) { benchmarkObserved(b, nil, first, each) }

// benchmarkObserved is benchmarkRelay with an Observer.
func benchmarkObserved(b *testing.B, observer Observer, first, each exchange) {
	config := Config{Gate: passingGate{}, Available: func() error { return nil }, Logger: slog.New(slog.DiscardHandler), Observer: observer}.withDefaults()
	client, proxyClient := sockets(b)
	server, proxyServer := sockets(b)
	ran := startSession(b, config, fakeState{}, proxyClient, proxyServer)
	go func() {
		heard := make([]byte, max(len(first.request), len(each.request)))
		for now := first; ; now = each {
			if _, err := io.ReadFull(server, heard[:len(now.request)]); err != nil {
				return
			}
			if _, err := server.Write(now.response); err != nil {
				return
			}
		}
	}()
	ask := func(e exchange, buffer []byte) {
		if _, err := client.Write(e.request); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(client, buffer); err != nil {
			b.Fatal(err)
		}
	}
	ask(first, make([]byte, len(first.response)))
	buffer := make([]byte, len(each.response))
	b.SetBytes(int64(len(each.response)))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		ask(each, buffer)
	}
	b.StopTimer()
	_ = client.Close()
	if err := <-ran; !errors.Is(err, errClientGone) {
		b.Error(err)
	}
	_ = server.Close()
}

// rowsOf is a result of n rows of some 100 bytes.
func rowsOf(n int, end ...byte) []byte {
	row := appendFrame(nil, 'D', append([]byte{0, 1, 0, 0, 0, 100}, make([]byte, 100)...))
	var out []byte
	for range n {
		out = append(out, row...)
	}
	for _, kind := range end {
		switch kind {
		case 'C':
			out = appendFrame(out, 'C', []byte("SELECT 1\x00"))
		case 'Z':
			out = appendFrame(out, 'Z', []byte("I"))
		}
	}
	return out
}

// plain is a simple query.
var plain = exchange{appendQuery(nil, "SELECT 1"), append(appendFrame(nil, 'T', []byte{0, 0}), rowsOf(1, 'C', 'Z')...)}

func BenchmarkSimple(b *testing.B) {
	benchmarkRelay(b, plain, plain)
}

func BenchmarkExtended(b *testing.B) {
	request := appendParse(nil, parseMessage{types: []byte{0, 0}}, "SELECT 1")
	request = appendFrame(request, 'B', make([]byte, 8))
	request = appendFrame(request, 'D', []byte("P\x00"))
	request = appendFrame(request, 'E', make([]byte, 5))
	request = appendFrame(request, 'S', nil)
	response := appendFrame(appendFrame(appendFrame(nil, '1', nil), '2', nil), 'T', []byte{0, 0})
	benchmarkRelay(b, plain, exchange{request, append(response, rowsOf(1, 'C', 'Z')...)})
}

// boundTo executes a statement that was prepared.
func boundTo(name string) exchange {
	request := appendFrame(nil, 'B', append([]byte("\x00"+name), make([]byte, 7)...))
	request = appendFrame(request, 'E', make([]byte, 5))
	request = appendFrame(request, 'S', nil)
	return exchange{request, append(appendFrame(nil, '2', nil), rowsOf(1, 'C', 'Z')...)}
}

func BenchmarkPrepared(b *testing.B) { benchmarkRelay(b, plain, boundTo("S_2")) }

// BenchmarkPreparedBesideEffects is in a session that has prepared BEGIN, as pgjdbc does.
func BenchmarkPreparedBesideEffects(b *testing.B) {
	begin := exchange{appendParse(nil, parseMessage{name: []byte("S_1"), types: []byte{0, 0}}, "BEGIN"), appendFrame(nil, '1', nil)}
	begin.request = appendFrame(begin.request, 'S', nil)
	begin.response = appendFrame(begin.response, 'Z', []byte("I"))
	benchmarkRelay(b, begin, boundTo("S_2"))
}

func BenchmarkResult100000Rows(b *testing.B) {
	request := appendQuery(nil, "SELECT many")
	benchmarkRelay(b, plain, exchange{request, append(appendFrame(nil, 'T', []byte{0, 0}), rowsOf(100_000, 'C', 'Z')...)})
}
