package main

import "testing"

const counted = `package p

// T is a type.
type T[K any] struct {
	a, b int // two
	error
}

/* A comment
of two lines. */
func (t *T[K]) M() string {
	return ` + "`one\n\ntwo`" + `
}

func (T[K]) N() {}
`

func TestCount(t *testing.T) {
	m := &module{packages: make(map[string]*lines), types: make(map[string]*shape)}
	for _, path := range []string{"p/p.go", "p/p_test.go", "integration/rig.go"} {
		if err := m.count(path, []byte(counted)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := *m.packages["p"], (lines{files: 2, code: 11, comments: 3, tests: 11}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got, want := *m.types["p.T"], (shape{name: "p.T", methods: 2, fields: 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if len(m.types) != 1 || len(m.product) != 1 {
		t.Errorf("types %v, files %v", m.types, m.product)
	}
}
