package chaos

import (
	"math/rand/v2"
	"net"
	"runtime"
	"sync/atomic"
	"time"
)

// Manners of a [rough] connection.
const (
	smooth   = iota
	dribbles // writes a few bytes at a time
	slow     // reads a few bytes at a time, with pauses
	manners
)

// rough is a connection whose bytes come and go in pieces.
type rough struct {
	net.Conn
	manner           atomic.Int32
	reading, writing *rand.Rand // each used by one goroutine
}

// roughen returns the Login.Wrap that makes rough connections, the last of which is kept.
func roughen(rng *rand.Rand, last **rough) func(net.Conn) net.Conn {
	return func(conn net.Conn) net.Conn {
		*last = &rough{Conn: conn, reading: rand.New(rand.NewPCG(rng.Uint64(), 1)), writing: rand.New(rand.NewPCG(rng.Uint64(), 2))}
		return *last
	}
}

func (r *rough) Write(b []byte) (written int, err error) {
	for r.manner.Load() == dribbles && len(b) > 1 {
		most := 40
		if len(b) > 4000 {
			most = len(b)
		}
		n, err := r.Conn.Write(b[:1+r.writing.IntN(min(most, len(b)))])
		written += n
		if err != nil {
			return written, err
		}
		b = b[n:]
		pause(r.writing)
	}
	if len(b) == 0 {
		return written, nil // a peer that is gone would make an error of it
	}
	n, err := r.Conn.Write(b)
	return written + n, err
}

func (r *rough) Read(b []byte) (int, error) {
	if r.manner.Load() == slow && len(b) > 0 {
		pause(r.reading)
		b = b[:min(len(b), 1+r.reading.IntN(2000))]
	}
	return r.Conn.Read(b)
}

// pause lets others run, sometimes for long enough to fill buffers.
func pause(rng *rand.Rand) {
	switch rng.IntN(50) {
	case 0:
		time.Sleep(time.Duration(rng.IntN(1000)) * time.Microsecond)
	case 1, 2, 3, 4, 5, 6, 7, 8:
		runtime.Gosched()
	}
}
