package dataset

import (
	"context"
	"io"
)

// interruptible ends reading with the context, even while what is read from keeps the reader waiting, as a terminal does.
type interruptible struct {
	ctx  context.Context
	from io.Reader
}

type chunk struct {
	text []byte
	err  error
}

// Read reads into a buffer of its own, since the wait can be given up before it is full.
func (r interruptible) Read(to []byte) (int, error) {
	if r.ctx.Done() == nil {
		return r.from.Read(to)
	}
	read := make(chan chunk, 1)
	go func() {
		text := make([]byte, len(to))
		n, err := r.from.Read(text)
		read <- chunk{text[:n], err}
	}()
	select {
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	case c := <-read:
		return copy(to, c.text), c.err
	}
}
