package proxy

import (
	"testing"

	"github.com/kproxy/kproxy/proxy/answers"
)

// lookingGate is passingGate for statements whose answers may be kept.
type lookingGate struct{ passingGate }

func (g lookingGate) Rewrite(sql string, in State) (Statement, error) {
	s, err := g.passingGate.Rewrite(sql, in)
	s.Look = keptLook
	return s, err
}

// BenchmarkCheapQuestion is what the relay does for statements that take the server no time, which may be
// kept and are not, with kept answers and without.
func BenchmarkCheapQuestion(b *testing.B) {
	prepared := boundTo("S_2")
	parse := appendFrame(appendParse(nil, parseMessage{name: []byte("S_2"), types: []byte{0, 0}}, "SELECT 1"), 'S', nil)
	for name, bytes := range map[string]int64{"kept": 64 << 20, "not": 0} {
		for kind, e := range map[string]exchange{"simple": plain, "prepared": prepared} {
			b.Run(kind+"/"+name, func(b *testing.B) {
				store := answers.New(bytes)
				store.LeastTime = patience // however busy the machine is
				config := Config{Gate: lookingGate{}, Observer: idleObserver{}, Answers: store}.withDefaults()
				r := newRelay(&config, "ann", fakeState{}, nil)
				var out writeBuffer
				if _, _, err := r.fromClient(parse, &out); err != nil {
					b.Fatal(err)
				}
				if _, _, err := r.fromServer([]byte{'1', 0, 0, 0, 4, 'Z', 0, 0, 0, 5, 'I'}, &out); err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					out.clear()
					if _, _, err := r.fromClient(e.request, &out); err != nil {
						b.Fatal(err)
					}
					out.clear()
					if _, _, err := r.fromServer(e.response, &out); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
