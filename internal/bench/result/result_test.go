package result

import (
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

func TestSpreadAndRatios(t *testing.T) {
	t.Parallel()
	clients := map[string]string{"clients": "8"}
	figures := []Figure{
		New("rate", "kproxy", clients, "1/s", 50, 100, 90),
		New("rate", "peer", clients, "1/s", 100, 100, 180),
		New("rate", "peer", map[string]string{"clients": "64"}, "1/s", 1),
		New("rate", "idle", clients, "1/s", 0, 0, 0),
	}
	CompareWith(figures, "kproxy", "peer", "idle", "absent")
	if want := (Spread{Median: 90, Low: 50, High: 100}); figures[0].Spread != want {
		t.Errorf("%+v, want %+v", figures[0].Spread, want)
	}
	want := []Ratio{{Way: "peer", Spread: Spread{Median: 0.9, Low: 0.5, High: 1}}}
	if !reflect.DeepEqual(figures[0].Against, want) {
		t.Errorf("%+v, want %+v", figures[0].Against, want)
	}
	if figures[1].Against != nil {
		t.Error("the peer was compared as well")
	}
	if got := spreadOf([]float64{9, 1, 2, 4}).Median; got != 3 {
		t.Errorf("the median of four is %v", got)
	}
}

func TestWrittenIsRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "section.json")
	s := &Section{
		Name: "section", Size: "small", Date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Commit: "0123456",
		Machine: Machine{Processor: "p", Cores: 2, Memory: 1 << 30, System: "s"}, Versions: map[string]string{"Go": "go1.26"},
		Commands: []Command{{Line: "true", Seconds: 1.5, Others: 0.25}},
		Figures:  []Figure{New("rate", "kproxy", map[string]string{"n": "1"}, "1/s", 1, 2)},
	}
	if err := s.Write(path); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%+v, %v; want %+v", got, err, s)
	}
}

func TestFiguresThatCannotBe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "section.json")
	invented := New("rate", "kproxy", nil, "1/s", 1, 2)
	invented.Median = 17
	for name, f := range map[string]Figure{"no round": New("rate", "kproxy", nil, "1/s"), "another median": invented} {
		if err := (&Section{Figures: []Figure{f}}).Write(path); err == nil {
			t.Errorf("%s: written", name)
		}
	}
	if _, err := Read(path); err == nil {
		t.Error("a file that is not there was read")
	}
}
