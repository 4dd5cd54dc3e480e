package eval

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// Heap watches by how much the heap grows during a run.
type Heap struct {
	before, peak uint64
	done         chan struct{}
	stopped      chan struct{}
}

// heapPace is the time between two looks; a run that is over before the first
// one shows what it left behind.
const heapPace = 10 * time.Millisecond

// WatchHeap begins to watch, after the collector has removed what is dead.
func WatchHeap() *Heap {
	runtime.GC() // what came before is not the run's
	h := &Heap{before: held(), done: make(chan struct{}), stopped: make(chan struct{})}
	h.peak = h.before
	go h.watch()
	return h
}

func (h *Heap) watch() {
	defer close(h.stopped)
	pace := time.NewTicker(heapPace)
	defer pace.Stop()
	for {
		select {
		case <-pace.C:
			h.peak = max(h.peak, held())
		case <-h.done:
			h.peak = max(h.peak, held())
			return
		}
	}
}

// held is the memory in objects, dead ones that wait for the collector included.
func held() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// Stop ends the watch and returns the most bytes by which the heap was larger than
// at its start.
func (h *Heap) Stop() int64 {
	close(h.done)
	<-h.stopped
	return int64(h.peak - h.before)
}
