package proxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"testing"
)

// passingGate lets everything pass as it is.
type passingGate struct{ markingGate }

func (passingGate) Rewrite(sql string, _ State) (Statement, error) { return Statement{SQL: sql}, nil }

// benchmarkRelay sends requests of which the server sees each once whole before it
// answers, and allocates nothing itself.
func benchmarkRelay(b *testing.B, request, seen, response []byte) {
	config := Config{Gate: passingGate{}, Available: func() error { return nil }, Logger: slog.New(slog.DiscardHandler)}.withDefaults()
	client, proxyClient := net.Pipe()
	server, proxyServer := net.Pipe()
	in := &flushingReader{from: proxyServer}
	up := newUpstream(proxyServer, in, bufio.NewReaderSize(in, relayBufferBytes))
	up.cancel = func(context.Context) error { return nil }
	ran := make(chan error, 1)
	go func() {
		ran <- newSession(&config, "ann", fakeState{}, proxyClient, up).run(b.Context())
	}()
	go func() {
		buffer := make([]byte, len(seen))
		for {
			if _, err := io.ReadFull(server, buffer); err != nil {
				return
			}
			if _, err := server.Write(response); err != nil {
				return
			}
		}
	}()
	buffer := make([]byte, len(response))
	b.SetBytes(int64(len(response)))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, err := client.Write(request); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(client, buffer); err != nil {
			b.Fatal(err)
		}
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

func BenchmarkSimple(b *testing.B) {
	request := appendQuery(nil, "SELECT 1")
	benchmarkRelay(b, request, request, append(appendFrame(nil, 'T', []byte{0, 0}), rowsOf(1, 'C', 'Z')...))
}

func BenchmarkExtended(b *testing.B) {
	request := appendParse(nil, parseMessage{types: []byte{0, 0}}, "SELECT 1")
	request = appendFrame(request, 'B', make([]byte, 8))
	request = appendFrame(request, 'D', []byte("P\x00"))
	request = appendFrame(request, 'E', make([]byte, 5))
	request = appendFrame(request, 'S', nil)
	response := appendFrame(appendFrame(appendFrame(nil, '1', nil), '2', nil), 'T', []byte{0, 0})
	benchmarkRelay(b, request, request, append(response, rowsOf(1, 'C', 'Z')...))
}

func BenchmarkPrepared(b *testing.B) {
	request := appendFrame(nil, 'B', make([]byte, 8))
	request = appendFrame(request, 'E', make([]byte, 5))
	request = appendFrame(request, 'S', nil)
	benchmarkRelay(b, request, request, append(appendFrame(nil, '2', nil), rowsOf(1, 'C', 'Z')...))
}

func BenchmarkResult100000Rows(b *testing.B) {
	request := appendQuery(nil, "SELECT many")
	benchmarkRelay(b, request, request, append(appendFrame(nil, 'T', []byte{0, 0}), rowsOf(100_000, 'C', 'Z')...))
}
