package demo

import (
	"bytes"
	"testing"

	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
)

func TestRecordsAreNumbered(t *testing.T) {
	t.Parallel()
	file, err := dataset.Parse([]byte("age,name\n31,Ann\n,\"Bo, b\"\n"), config.CSV{Header: true, Delimiter: ','})
	if err != nil {
		t.Fatal(err)
	}
	s := csvSource{File: file}
	var out bytes.Buffer
	if err := s.write(&out); err != nil {
		t.Fatal(err)
	}
	if want := "1,31,Ann\n2,,\"Bo, b\"\n"; out.String() != want {
		t.Errorf("numbered records\n%swant\n%s", out.String(), want)
	}
}
