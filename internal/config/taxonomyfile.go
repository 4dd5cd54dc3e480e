package config

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// taxonomyFile reads the file that a key names. The taxonomy is empty when files
// are not looked at, and when the file is wrong, which is reported at its lines.
func (d *decoder) taxonomyFile(at *yaml.Node, path string) []hierarchy.Node {
	text, ok := d.contents(at, "file", path)
	if !ok {
		return nil
	}
	if len(text) > maxFileBytes {
		d.wrong(at, fmt.Sprintf("file is larger than %d bytes", maxFileBytes), "shorten the taxonomy, or use a prefix hierarchy")
		return nil
	}
	nodes, err := hierarchy.ReadTaxonomy(bytes.NewReader(text))
	if err == nil {
		return nodes
	}
	for _, mistake := range split(err) {
		line, what := taxonomyMistake(mistake)
		d.problems = append(d.problems, Problem{
			File: path, Line: line, What: what,
			Fix: "write a line for each value, with the labels above it, separated by semicolons: nurse;care;*",
		})
	}
	return nil
}

// split takes joined errors apart.
func split(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

var taxonomyLine = regexp.MustCompile(`^taxonomy: (?:line (\d+): )?`)

// taxonomyMistake takes the line out of a mistake's text; 0 when it says none.
func taxonomyMistake(err error) (line int, what string) {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return parse.Line, "a quote is not in its place: " + parse.Err.Error()
	}
	what = strings.ReplaceAll(err.Error(), "\n", "; ")
	if parts := taxonomyLine.FindStringSubmatch(what); parts != nil {
		line, _ = strconv.Atoi(parts[1])
		what = what[len(parts[0]):]
	}
	return line, what
}
