package audit

import (
	"context"
	"testing"
)

func TestAllIsWrittenInOrder(t *testing.T) {
	t.Parallel()
	file := &disk{room: -1}
	l := open(t, Options{}, file)
	for i := range 5000 {
		l.Add(numbered(i))
	}
	shut(t, l)
	inOrder(t, file.String(), 5000)
	if s := l.Stats(); s.Written != 5000 || s.Dropped != 0 || s.Failures != 0 || s.Queued != 0 || s.Failing {
		t.Errorf("%+v", s)
	}
	l.Add(numbered(0))
	if s := l.Stats(); s.Dropped != 1 {
		t.Errorf("after the end: %+v", s)
	}
}

func BenchmarkAdd(b *testing.B) {
	l, err := New(Options{Open: func() (File, error) { return unlimited{}, nil }, Queue: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	r := numbered(1)
	r.Shape = "SELECT diagnosis, count(*) FROM patients _1 WHERE _1.postcode = ? GROUP BY ? LIMIT ?"
	r.Tables = []string{"public.patients"}
	b.ReportAllocs()
	for b.Loop() {
		l.Add(r)
	}
	_ = l.Close(context.Background())
}

type unlimited struct{}

func (unlimited) Write(b []byte) (int, error) { return len(b), nil }
func (unlimited) Sync() error                 { return nil }
func (unlimited) Close() error                { return nil }
