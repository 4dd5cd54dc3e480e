package proxy

import (
	"bytes"
	"testing"
)

// sortingHandler lets messages pass or not by their types' lowest bit; of some a part must be
// seen.
type sortingHandler struct{ t *testing.T }

func (sortingHandler) check(f frame) (int, error) { return min(f.size, int(f.kind)%9), nil }

func (h sortingHandler) decide(f frame, begin []byte, out *writeBuffer) (action, error) {
	if len(begin) != min(f.size, int(f.kind)%9) {
		h.t.Errorf("%d bytes of %+v are seen", len(begin), f)
	}
	if f.kind&1 == 0 {
		out.set(appendFrame(out.buffer(), 'N', begin))
		return drop, nil
	}
	return pass, nil
}

// readFrames has a frameReader take data in pieces of at most so many bytes, 0 = at once, and
// returns what comes out of a sortingHandler.
func readFrames(t *testing.T, data []byte, piece int) ([]byte, bool) {
	var r frameReader
	var came, held []byte
	need := 1
	for len(data) > 0 {
		n := len(data)
		if piece > 0 {
			n = min(piece, n)
		}
		held, data = append(held, data[:n]...), data[n:]
		if len(held) < need {
			continue
		}
		var out writeBuffer
		taken, more, err := r.run(held, &out, sortingHandler{t})
		came = append(came, out.gathered()...)
		if err != nil {
			return came, false
		}
		held, need = held[taken:], more
		if len(held) >= need {
			t.Fatalf("%d bytes are left where %d are enough", len(held), need)
		}
	}
	return came, true
}

// FuzzFrameReader expects the same of any bytes, in whatever pieces they come.
func FuzzFrameReader(f *testing.F) {
	for _, seed := range [][]byte{
		{},
		{'Q'},
		{'Q', 0, 0, 0, 4},
		{'Q', 0, 0, 0, 3},
		{'S', 0xff, 0xff, 0xff, 0xff},
		{'B', 0x7f, 0xff, 0xff, 0xff},
		appendQuery(appendQuery(nil, "SELECT 1"), ""), append(appendQuery(nil, "SELECT 1"), 'X', 0),
		appendFrame(appendFrame(nil, 'D', bytes.Repeat([]byte("x"), 100)), 'C', []byte("abcdefghijkl")),
	} {
		f.Add(seed, uint8(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, piece uint8) {
		whole, well := readFrames(t, data, 0)
		parts, same := readFrames(t, data, int(piece)%17+1)
		if well != same || well && !bytes.Equal(whole, parts) {
			t.Errorf("%q becomes %q, and in parts %q", data, whole, parts)
		}
	})
}
