package audit

import "testing"

// TestSlowDisk wants statements refused before the queue is full, those under way kept,
// and refusals bounded.
func TestSlowDisk(t *testing.T) {
	t.Parallel()
	file := &disk{room: -1, held: make(chan struct{})}
	l := open(t, Options{Queue: 100}, file)
	l.Add(numbered(0))
	eventually(t, "it is being written", func() bool { return l.Stats().Queued == 0 })
	added := 1
	for ; l.Err() == nil; added++ {
		l.Add(numbered(added))
	}
	if added != 76 {
		t.Errorf("refused after %d records", added)
	}
	for range 100 { // under way
		l.Add(numbered(added))
		added++
	}
	for range 1000 {
		refused := numbered(-1)
		refused.Refused = true
		l.Add(refused)
		l.Add(Record{Event: Rejected})
	}
	if s := l.Stats(); s.Dropped != 2000 || s.Queued != added-1 {
		t.Errorf("%+v after %d", s, added)
	}
	close(file.held)
	eventually(t, "statements are served again", func() bool { return l.Err() == nil })
	shut(t, l)
	inOrder(t, file.String(), added)
}

func TestSlowDiskDrops(t *testing.T) {
	t.Parallel()
	file := &disk{room: -1, held: make(chan struct{})}
	l := open(t, Options{Queue: 100, OnFailure: Drop}, file)
	for i := range 1000 {
		l.Add(numbered(i))
	}
	if s := l.Stats(); l.Err() != nil || s.Queued > 100 || s.Dropped < 800 {
		t.Errorf("%+v, %v", s, l.Err())
	}
	close(file.held)
	shut(t, l)
	if s := l.Stats(); s.Written+s.Dropped != 1000 || len(sessions(t, file.String())) != int(s.Written) {
		t.Errorf("%+v", s)
	}
}
