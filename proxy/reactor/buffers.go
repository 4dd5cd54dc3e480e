package reactor

import "sync"

const (
	// bufferBytes is what a Loop reads at once, and what kept writes begin with.
	bufferBytes = 64 << 10

	// largestKept is the capacity up to which the memory of kept writes is used again.
	largestKept = 4 * bufferBytes
)

var buffers = sync.Pool{New: func() any {
	b := make([]byte, 0, bufferBytes+bufferBytes/8) // 64 KiB as TLS records
	return &b
}}

// acquire returns an empty buffer.
func acquire() []byte {
	b, _ := buffers.Get().(*[]byte)
	return (*b)[:0]
}

// release takes a buffer back.
func release(b []byte) {
	if cap(b) <= largestKept {
		buffers.Put(&b)
	}
}
