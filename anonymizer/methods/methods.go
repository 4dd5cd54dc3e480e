// Package methods lists the anonymization methods by the names that
// configurations use.
package methods

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/agglomerative"
	"github.com/kproxy/kproxy/anonymizer/hilbert"
	"github.com/kproxy/kproxy/anonymizer/lookahead"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/recoding"
	"github.com/kproxy/kproxy/anonymizer/seeded"
)

// all holds every method, the recommended one first.
var all = []anonymizer.Method{
	partition.RoundedPartition{},
	lookahead.Partition{},
	partition.Mondrian{},
	partition.Mondrian{Relaxed: true},
	agglomerative.BottomUp{},
	agglomerative.CBAD{},
	hilbert.Hilbert{},
	seeded.AlphaK{},
	seeded.AlphaK{Multi: true},
	recoding.Datafly{},
	recoding.Classfly{},
	recoding.ClassflyPlus{Variant: recoding.Naive},
	recoding.ClassflyPlus{Variant: recoding.Complete},
	recoding.ClassflyPlus{Variant: recoding.Partial},
	recoding.Lattice{},
}

// ofPersons is how many of them divide persons of several tables as well.
const ofPersons = 7

// Names lists the names of all methods, the recommended one first.
func Names() []string { return named(all) }

// OfPersons lists those of the methods that can divide the persons of several tables: they publish
// of each class what its members cover, whatever the constraints on sensitive values are.
func OfPersons() []string { return named(all[:ofPersons]) }

func named(methods []anonymizer.Method) []string {
	names := make([]string, len(methods))
	for i, m := range methods {
		names[i] = m.Name()
	}
	return names
}

// Trying returns the method with the name, which makes an effort. The error lists the known ones,
// or is ErrOneEffort.
func Trying(name string, effort anonymizer.Effort) (anonymizer.Method, error) {
	m, err := Named(name)
	if err != nil || effort == anonymizer.Fast {
		return m, err
	}
	if !Varies(name) {
		return nil, fmt.Errorf("method %s %w", name, ErrOneEffort)
	}
	return lookahead.Partition{Effort: effort}, nil
}

// ErrOneEffort says that a method makes no effort but the least.
var ErrOneEffort = errors.New("makes no effort but fast")

// Varies says whether the method of the name makes more efforts than one.
func Varies(name string) bool { return name == lookahead.Partition{}.Name() }

// Named returns the method with the name; the error lists the known ones.
func Named(name string) (anonymizer.Method, error) {
	for _, m := range all {
		if m.Name() == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("unknown anonymization method %q: known are %s", name, strings.Join(Names(), ", "))
}
