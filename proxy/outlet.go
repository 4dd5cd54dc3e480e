package proxy

const (
	// outletBytes is the memory that an outlet begins with, and largestOutlet that which
	// it keeps.
	outletBytes   = 16 << 10
	largestOutlet = 256 << 10
)

// outlet gathers what goes to a peer. What passes as it came is not copied as long as
// nothing else comes in between.
type outlet struct {
	passing []byte // of the input; all there is, unless made has something
	made    []byte
}

// pass appends a part of the input, which must stay as it is until take.
func (o *outlet) pass(b []byte) {
	switch n := len(o.passing); {
	case len(b) == 0:
	case len(o.made) > 0:
		o.made = append(o.made, b...)
	case n == 0:
		o.passing = b
	case cap(o.passing) > n && &o.passing[:n+1][n] == &b[0]:
		o.passing = o.passing[:n+len(b)]
	default:
		o.made = append(o.buffer(), b...)
	}
}

// buffer returns all that was gathered, for more to be appended to it; the result must
// be given back by set.
func (o *outlet) buffer() []byte {
	if o.made == nil {
		o.made = make([]byte, 0, outletBytes)
	}
	if len(o.passing) > 0 {
		o.made = append(o.made, o.passing...)
		o.passing = nil
	}
	return o.made
}

func (o *outlet) set(made []byte) { o.made = made }

// add appends bytes, which may change afterwards.
func (o *outlet) add(b []byte) { o.set(append(o.buffer(), b...)) }

// gathered is what there is to send.
func (o *outlet) gathered() []byte {
	if len(o.made) > 0 {
		return o.made
	}
	return o.passing
}

// clear empties the outlet.
func (o *outlet) clear() {
	o.passing = nil
	if cap(o.made) > largestOutlet {
		o.made = nil
	}
	o.made = o.made[:0]
}
