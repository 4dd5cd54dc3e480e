package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/metric"
)

// answer is what a peer says of a table.
type answer struct {
	version string // empty if it does not tell
	seconds float64
	cpu     float64 // 0 if it does not tell
	memory  float64 // bytes, 0 if it does not tell
	published
}

// published is a release with what a peer publishes of each class and attribute. Records are
// in one class if the same is published of them.
type published struct {
	release anonymizer.Release
	runs    [][]metric.Run
	classes map[string]int
}

// anything stands for a value of which nothing is published.
const anything = "*"

// readAnswer reads what a peer writes of a table. An answer that ends too early is
// an io.ErrUnexpectedEOF. That what is published of a record is true of it is looked at,
// whether enough others have the same is not.
func readAnswer(from io.Reader, t *anonymizer.Table) (answer, error) {
	var a answer
	lines := bufio.NewScanner(from)
	if !lines.Scan() {
		return a, ended(lines, "before its first line")
	}
	if version, told := strings.CutPrefix(lines.Text(), "version "); told {
		if a.version = version; !lines.Scan() {
			return a, ended(lines, "behind its version")
		}
	}
	if _, err := fmt.Sscanf(lines.Text(), "seconds %g", &a.seconds); err != nil {
		return a, fmt.Errorf("%q is not \"seconds S\": %w", lines.Text(), err)
	}
	more := lines.Scan()
	if _, err := fmt.Sscanf(lines.Text(), "cpu %g", &a.cpu); err == nil {
		more = lines.Scan()
	}
	if _, err := fmt.Sscanf(lines.Text(), "memory %g", &a.memory); err == nil {
		more = lines.Scan()
	}
	for record := range t.Len() {
		if !more {
			return a, ended(lines, fmt.Sprintf("behind %d of %d records", record, t.Len()))
		}
		if err := a.put(t, int32(record), lines.Text()); err != nil {
			return a, fmt.Errorf("record %d: %w", record, err)
		}
		more = lines.Scan()
	}
	if more {
		return a, fmt.Errorf("more than the %d records are published", t.Len())
	}
	return a, lines.Err()
}

// put puts a record into the class of which the same is published. One of which nothing is
// told is withheld.
func (p *published) put(t *anonymizer.Table, record int32, line string) error {
	class, known := p.classes[line]
	if !known {
		runs, err := readRuns(line, len(t.Attributes()))
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(runs, func(r metric.Run) bool { return r != metric.Anything }) {
			p.release.Withheld = append(p.release.Withheld, record)
			return nil
		}
		if p.classes == nil {
			p.classes = map[string]int{}
		}
		class = len(p.runs)
		p.classes[line], p.runs = class, append(p.runs, runs)
		p.release.Classes = append(p.release.Classes, nil)
	}
	for a, run := range p.runs[class] {
		if value := t.Attributes()[a].Hierarchy.Position(t.Cells(a)[record]); value < run.Low || run.High < value {
			return fmt.Errorf("it has %g, and %s is published of it", value, strings.Split(line, ",")[a])
		}
	}
	p.release.Classes[class] = append(p.release.Classes[class], record)
	return nil
}

// readRuns reads what is published of a record: LOW~HIGH, a number alone or "*" for each
// attribute.
func readRuns(line string, attributes int) ([]metric.Run, error) {
	texts := strings.Split(line, ",")
	if len(texts) != attributes {
		return nil, fmt.Errorf("%q is not of %d attributes", line, attributes)
	}
	runs := make([]metric.Run, attributes)
	for i, text := range texts {
		if text == anything {
			runs[i] = metric.Anything
			continue
		}
		low, high, wide := strings.Cut(text, "~")
		if !wide {
			high = low
		}
		var err, beside error
		runs[i].Low, err = strconv.ParseFloat(low, 64)
		runs[i].High, beside = strconv.ParseFloat(high, 64)
		if err := errors.Join(err, beside); err != nil {
			return nil, fmt.Errorf("%q is no run of values: %w", text, err)
		}
	}
	return runs, nil
}

// ended is why there is no further line.
func ended(lines *bufio.Scanner, where string) error {
	if err := lines.Err(); err != nil {
		return err
	}
	return fmt.Errorf("the answer ends %s: %w", where, io.ErrUnexpectedEOF)
}
