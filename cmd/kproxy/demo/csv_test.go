package demo

import (
	"bytes"
	"testing"

	"github.com/kproxy/kproxy/internal/dataset"
)

func TestRecordsAreNumbered(t *testing.T) {
	t.Parallel()
	s := csvSource{File: &dataset.File{Records: [][]string{{"31", "Ann"}, {"", "Bo, b"}}}}
	var out bytes.Buffer
	if err := s.write(&out); err != nil {
		t.Fatal(err)
	}
	if want := "1,31,Ann\n2,,\"Bo, b\"\n"; out.String() != want {
		t.Errorf("numbered records\n%swant\n%s", out.String(), want)
	}
}
