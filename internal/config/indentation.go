package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bounds of looking for the one line whose indentation is wrong. Each trial reads the whole
// file.
const (
	maxTrialBytes = 64 << 10
	maxSuspects   = 16
	maxIndents    = 8
)

// isOfIndentation says whether a wrong indentation is the likely cause of what the YAML
// parser said. For those messages it names where a block begins, and not where it stumbled.
func isOfIndentation(said string) bool {
	return slices.ContainsFunc([]string{
		"did not find expected key", "did not find expected '-' indicator", "did not find expected <document start>",
		"mapping values are not allowed",
	}, func(of string) bool { return strings.Contains(said, of) })
}

// misindented reports the line whose indentation is wrong in a text that the YAML parser
// refuses, and how far to indent it; without one such line, the line where the parser
// stumbled.
func (d *decoder) misindented(text []byte, what, fix string) {
	lines := slices.Collect(bytes.Lines(text))
	stumbled := stumblesAt(text, lines)
	if line, to, found := reindentation(lines, stumbled-1); found {
		d.report(line+1, 0, fmt.Sprintf("this line begins after %s, which fits no section around it", spaces(indentOf(lines[line]))),
			fmt.Sprintf("begin it after %s: the keys of one section are lined up", spaces(to)))
		return
	}
	d.report(stumbled, 0, what, fix)
}

func spaces(n int) string {
	switch n {
	case 0:
		return "no space"
	case 1:
		return "1 space"
	}
	return fmt.Sprintf("%d spaces", n)
}

// stumblesAt is the line, from 1, at which the parser gives a text up: the last one of the
// shortest beginning that it refuses in the same words.
func stumblesAt(text []byte, lines [][]byte) int {
	said := refusal(text)
	end := 0
	ends := make([]int, len(lines))
	for i, line := range lines {
		end += len(line)
		ends[i] = end
	}
	return 1 + sort.Search(len(lines)-1, func(i int) bool { return refusal(text[:ends[i]]) == said })
}

// refusal is what the parser says against a text, without the place; empty when it reads it.
func refusal(text []byte) string {
	documents := yaml.NewDecoder(bytes.NewReader(text))
	for {
		switch _, err := nextDocument(documents); {
		case errors.Is(err, io.EOF):
			return ""
		case err != nil:
			return syntaxLine.ReplaceAllString(err.Error(), "$2")
		}
	}
}

// reindentation finds the line, from 0, that makes the text readable when it is indented
// otherwise. Of several, it is the one that leaves the fewest mistakes, then one that gets an
// even indentation, then the one moved least, then the one nearest to where the parser
// stumbled.
func reindentation(lines [][]byte, stumbled int) (line, to int, found bool) {
	text := bytes.Join(lines, nil)
	if len(text) > maxTrialBytes {
		return 0, 0, false
	}
	var least []int
	suspects := suspectsOf(lines, stumbled)
	for _, suspect := range suspects {
		for _, indent := range indentsOf(lines, suspects, suspect) {
			changed := slices.Clone(lines)
			changed[suspect] = append(bytes.Repeat([]byte(" "), indent), bytes.TrimLeft(lines[suspect], " ")...)
			mistakes, ok := mistakesIn(bytes.Join(changed, nil))
			cost := []int{mistakes, indent % 2, max(indent-indentOf(lines[suspect]), indentOf(lines[suspect])-indent)}
			if ok && (!found || slices.Compare(cost, least) < 0) {
				line, to, found, least = suspect, indent, true, cost
			}
		}
	}
	return line, to, found
}

// mistakesIn counts what is wrong with a text, read as a configuration or as a policy; it is
// false where the text is not YAML.
func mistakesIn(text []byte) (int, bool) {
	documents := yaml.NewDecoder(bytes.NewReader(text))
	root, err := nextDocument(documents)
	if err != nil {
		return 0, false
	}
	if _, err := nextDocument(documents); !errors.Is(err, io.EOF) {
		return 0, false
	}
	configuration, policy := newDecoder("", nil), newDecoder("", nil)
	fileSection().read(configuration, root, "the configuration", reflect.New(reflect.TypeFor[file]()).Elem())
	policyFileSection().read(policy, root, "the policy file", reflect.New(reflect.TypeFor[policyFile]()).Elem())
	return min(len(configuration.problems), len(policy.problems)), true
}

// suspectsOf are the lines whose indentation decides where the line belongs at which the
// parser stumbled: itself, the lines around what comes before it, and the first ones of
// their sections. The nearest come first.
func suspectsOf(lines [][]byte, stumbled int) []int {
	var suspects []int
	least, first := -1, -1
	for i := stumbled; i >= 0 && len(suspects) < maxSuspects; i-- {
		if !holdsSomething(lines[i]) {
			continue
		}
		indent := indentOf(lines[i])
		switch {
		case i == stumbled:
			suspects = append(suspects, i)
			continue
		case least < 0 || indent < least:
			if first >= 0 {
				suspects = append(suspects, first)
			}
			suspects = append(suspects, i)
			least, first = indent, -1
		case indent == least:
			first = i
		}
	}
	if first >= 0 {
		suspects = append(suspects, first)
	}
	slices.SortFunc(suspects, func(a, b int) int { return cmp.Compare(b, a) })
	return slices.Compact(suspects)
}

// indentsOf are the indentations that a suspect may have been meant to have: those of the
// others, and one deeper than the line before it.
func indentsOf(lines [][]byte, suspects []int, suspect int) []int {
	var indents []int
	for _, other := range suspects {
		indents = append(indents, indentOf(lines[other]), indentOf(lines[other])+2)
	}
	slices.Sort(indents)
	indents = slices.DeleteFunc(slices.Compact(indents), func(i int) bool { return i == indentOf(lines[suspect]) })
	return indents[:min(len(indents), maxIndents)]
}

func holdsSomething(line []byte) bool {
	rest := bytes.TrimSpace(line)
	return len(rest) > 0 && rest[0] != '#'
}

func indentOf(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " ")) }
