package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/internal/config"
)

// maxShown is how many mistakes, or values, are worth listing.
const maxShown = 10

// mistake is a field that cannot be read as its column's type.
type mistake struct {
	line         int
	column, text string
	not          string // what the text is
}

// mistakes are those of some columns. The error quotes fields: it is for whoever
// owns the file.
type mistakes struct {
	file  *File
	first []mistake // of each column the first maxShown
	total int
	same  bool // all have the text of the first
}

// asError orders the mistakes by line; nil when there are none.
func (m *mistakes) asError() error {
	if m.total == 0 {
		return nil
	}
	slices.SortStableFunc(m.first, func(a, b mistake) int { return cmp.Compare(a.line, b.line) })
	m.first = m.first[:min(len(m.first), maxShown)]
	return m
}

func (m *mistakes) add(one mistake) {
	m.same = m.total == 0 || m.same && m.first[0].text == one.text
	m.total++
	if last := len(m.first) - maxShown; last < 0 || m.first[last].column != one.column {
		m.first = append(m.first, one)
	}
}

// Error lists the mistakes, one a line, and what to do.
func (m *mistakes) Error() string {
	lines := make([]string, 0, len(m.first)+1)
	for _, one := range m.first {
		lines = append(lines, fmt.Sprintf("%s: %s is %s, which is %s", m.file.at(one.line), one.column, quote(one.text), one.not))
	}
	if m.total == 1 {
		return lines[0] + ": correct it, " + m.way("the field")
	}
	if more := m.total - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n") + "\nCorrect them, " + m.way("the fields")
}

// way is what to do with fields that have no value.
func (m *mistakes) way(fields string) string {
	if m.same && m.file.form.Missing == "" {
		return "or write csv.missing: " + scalar(m.first[0].text)
	}
	return "or leave " + fields + " empty"
}

// at is a line of the file.
func (f *File) at(line int) string {
	if f.path == "" {
		return fmt.Sprintf("line %d", line)
	}
	if f.declared != nil {
		return fmt.Sprintf("%s, row %d", f.path, line)
	}
	return config.Position{File: f.path, Line: line}.String()
}

// maxQuoted is how many characters of a field are quoted.
const maxQuoted = 40

func quote(text string) string {
	if runes := []rune(text); len(runes) > maxQuoted {
		return strconv.Quote(string(runes[:maxQuoted])) + "..."
	}
	return strconv.Quote(text)
}

// scalar writes a text as YAML.
func scalar(text string) string {
	letter := func(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
	if text != "" && strings.TrimFunc(text, letter) == "" {
		return text
	}
	return strconv.Quote(text)
}
