package proxy

const (
	// writeBufferBytes is the memory that a write buffer begins with, and maxKeptBuffer that which
	// it keeps.
	writeBufferBytes = 16 << 10
	maxKeptBuffer    = 256 << 10
)

// writeBuffer gathers what goes to a peer. What passes as it came is not copied as long as
// nothing else comes in between.
type writeBuffer struct {
	passing []byte // of the input; all there is, unless made has something
	made    []byte
}

// pass appends a part of the input, which must stay as it is until take.
func (w *writeBuffer) pass(b []byte) {
	switch n := len(w.passing); {
	case len(b) == 0:
	case len(w.made) > 0:
		w.made = append(w.made, b...)
	case n == 0:
		w.passing = b
	case cap(w.passing) > n && &w.passing[:n+1][n] == &b[0]:
		w.passing = w.passing[:n+len(b)]
	default:
		w.made = append(w.buffer(), b...)
	}
}

// buffer returns all that was gathered, for more to be appended to it; the result must
// be given back by set.
func (w *writeBuffer) buffer() []byte {
	if w.made == nil {
		w.made = make([]byte, 0, writeBufferBytes)
	}
	if len(w.passing) > 0 {
		w.made = append(w.made, w.passing...)
		w.passing = nil
	}
	return w.made
}

func (w *writeBuffer) set(made []byte) { w.made = made }

// add appends bytes, which may change afterwards.
func (w *writeBuffer) add(b []byte) { w.set(append(w.buffer(), b...)) }

// gathered is what there is to send.
func (w *writeBuffer) gathered() []byte {
	if len(w.made) > 0 {
		return w.made
	}
	return w.passing
}

// clear empties the buffer.
func (w *writeBuffer) clear() {
	w.passing = nil
	if cap(w.made) > maxKeptBuffer {
		w.made = nil
	}
	w.made = w.made[:0]
}
