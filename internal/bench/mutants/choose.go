package main

import (
	_ "embed"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// equivalentText holds the mutants that need no test. Each has four lines: its file and
// function, the line where it begins, the change, and why no test can, or need, notice it;
// empty lines and those after a # are comments.
//
//go:embed equivalent.txt
var equivalentText string

// equivalents are mutants that need no test, by their keys.
type equivalents map[string]bool

func readEquivalents(text string) (equivalents, error) {
	same := equivalents{}
	var stanza []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if stanza = append(stanza, oneLine(line)); len(stanza) == 4 {
			same[strings.Join(stanza[:3], " ")] = true
			stanza = nil
		}
	}
	if len(stanza) > 0 {
		return nil, fmt.Errorf("equivalent.txt: %q has no reason", strings.Join(stanza, " "))
	}
	return same, nil
}

// key is what the equivalents know a mutant by. It holds while other lines change.
func (m mutant) key() string {
	return strings.Join([]string{m.file.name, m.function, m.where(), m.change()}, " ")
}

// stale returns an entry of the package that is no mutant of it any more.
func (same equivalents) stale(p *pkg, all []mutant) error {
	found := map[string]bool{}
	for _, m := range all {
		found[m.key()] = true
	}
	for key := range same {
		for _, f := range p.files {
			if strings.HasPrefix(key, f.name+" ") && !found[key] {
				return fmt.Errorf("equivalent.txt: there is no mutant %q any more", key)
			}
		}
	}
	return nil
}

// choose returns a sample of a package's mutants that compile and need a test. The seed
// decides which, and a larger sample has those of a smaller one.
func choose(p *pkg, same equivalents, o options) ([]mutant, error) {
	all := p.mutants()
	if err := same.stale(p, all); err != nil {
		return nil, err
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(p.path))
	random := rand.New(rand.NewPCG(o.seed, hash.Sum64()))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var chosen []mutant
	for _, m := range all {
		if o.sample > 0 && len(chosen) == o.sample {
			break
		}
		if o.only.MatchString(m.key()) && !same[m.key()] && p.compiles(m) {
			chosen = append(chosen, m)
		}
	}
	return chosen, nil
}
