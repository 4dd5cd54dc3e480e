package main

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
)

// answer is what a peer says of a table.
type answer struct {
	version string // empty if it does not tell
	seconds float64
	cpu     float64 // 0 if it does not tell
	release anonymizer.Release
}

// readAnswer reads what a peer writes of so many records. An answer that ends too early is
// an io.ErrUnexpectedEOF. Whether the classes are right is not looked at.
func readAnswer(from io.Reader, records int) (answer, error) {
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
	for record := range records {
		if !more {
			return a, ended(lines, fmt.Sprintf("behind %d of %d records", record, records))
		}
		if err := a.put(int32(record), lines.Text(), records); err != nil {
			return a, err
		}
		more = lines.Scan()
	}
	if more {
		return a, fmt.Errorf("more than the %d records have a class", records)
	}
	return a, lines.Err()
}

// put puts a record into the class of that number.
func (a *answer) put(record int32, number string, records int) error {
	class, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil {
		return fmt.Errorf("the class of record %d: %w", record, err)
	}
	if class < 0 {
		a.release.Withheld = append(a.release.Withheld, record)
		return nil
	}
	if class >= records {
		return fmt.Errorf("the classes are not numbered from 0: %d", class)
	}
	for len(a.release.Classes) <= class {
		a.release.Classes = append(a.release.Classes, nil)
	}
	a.release.Classes[class] = append(a.release.Classes[class], record)
	return nil
}

// ended is why there is no further line.
func ended(lines *bufio.Scanner, where string) error {
	if err := lines.Err(); err != nil {
		return err
	}
	return fmt.Errorf("the answer ends %s: %w", where, io.ErrUnexpectedEOF)
}
