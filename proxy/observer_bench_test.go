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

func BenchmarkObservedSimple(b *testing.B) { benchmarkObserved(b, idleObserver{}, plain, plain) }

func BenchmarkObservedPrepared(b *testing.B) {
	benchmarkObserved(b, idleObserver{}, plain, boundTo("S_2"))
}
