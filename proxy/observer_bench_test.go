package proxy

import (
	"testing"
	"time"
)

// idleObserver has no use for what it is told: what is left is the proxy's own cost.
type idleObserver struct{}

func (idleObserver) Began(*Client)                 {}
func (idleObserver) Ended(*Client, End)            {}
func (idleObserver) Answered(*Answered)            {}
func (idleObserver) Rejected(Rejection)            {}
func (idleObserver) Canceled(bool)                 {}
func (idleObserver) Connected(time.Duration, bool) {}

// BenchmarkRelayAlone is what a session does without connections, with an Observer and
// without.
func BenchmarkRelayAlone(b *testing.B) {
	for name, observer := range map[string]Observer{"unobserved": nil, "observed": idleObserver{}} {
		for kind, e := range map[string]exchange{"simple": plain, "prepared": boundTo("S_2")} {
			b.Run(kind+"/"+name, func(b *testing.B) {
				config := Config{Gate: passingGate{}, Observer: observer}.withDefaults()
				r := newRelay(&config, "ann", fakeState{}, nil)
				if r.tracker.observation != nil {
					r.tracker.observation.statements.mention([]byte("S_2")).become(&observedText{}, false)
				}
				var out writeBuffer
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := r.fromClient(e.request, &out); err != nil {
						b.Fatal(err)
					}
					out.clear()
					if _, _, err := r.fromServer(e.response, &out); err != nil {
						b.Fatal(err)
					}
					out.clear()
				}
			})
		}
	}
}

func BenchmarkObservedSimple(b *testing.B) { benchmarkObserved(b, idleObserver{}, plain, plain) }

func BenchmarkObservedPrepared(b *testing.B) {
	benchmarkObserved(b, idleObserver{}, plain, boundTo("S_2"))
}
