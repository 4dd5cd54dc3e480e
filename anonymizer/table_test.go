package anonymizer_test

import (
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

func TestNewTableRefusesRaggedColumns(t *testing.T) {
	t.Parallel()
	a := workload.Attribute("a", hierarchy.Spec{Kind: hierarchy.Numeric})
	for name, make := range map[string]func() (*anonymizer.Table, error){
		"columns": func() (*anonymizer.Table, error) { return anonymizer.NewTable([]anonymizer.Attribute{a}, nil, nil) },
		"hierarchy": func() (*anonymizer.Table, error) {
			return anonymizer.NewTable([]anonymizer.Attribute{{}}, [][]float64{{1}}, nil)
		},
		"cells": func() (*anonymizer.Table, error) {
			return anonymizer.NewTable([]anonymizer.Attribute{a, a}, [][]float64{{1}, {}}, nil)
		},
		"sensitive": func() (*anonymizer.Table, error) {
			return anonymizer.NewTable([]anonymizer.Attribute{a}, [][]float64{{1}}, [][]uint32{{}})
		},
	} {
		if _, err := make(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
