package propose

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

// Draft is a proposed policy of one table.
type Draft struct {
	Table   catalog.Name
	Choices []Choice
	// Subject is nil where no column seems to tell persons with several records.
	Subject *Subject
	// Unique is the share of the records that no other record agrees with in all
	// quasi-identifying columns.
	Unique float64
	// Records is the number of records looked at.
	Records int
}

// Propose drafts a policy for a table of these columns, which have a value for
// each record.
func Propose(table catalog.Name, columns []Column) Draft {
	d := Draft{Table: table, Subject: proposeSubject(columns)}
	for _, c := range columns {
		d.Choices = append(d.Choices, Choose(c))
		d.Records = len(c.Values)
	}
	d.Unique = d.unique(columns)
	return d
}

func (d Draft) unique(columns []Column) float64 {
	if d.Records == 0 {
		return 0
	}
	seen := make(map[string]int, d.Records)
	var key strings.Builder
	for i := range d.Records {
		key.Reset()
		for c, column := range columns {
			if d.Choices[c].Role == catalog.QuasiIdentifying {
				fmt.Fprintf(&key, "%d:%s", len(column.Values[i]), column.Values[i])
			}
		}
		seen[key.String()]++
	}
	alone := 0
	for _, records := range seen {
		if records == 1 {
			alone++
		}
	}
	return float64(alone) / float64(d.Records)
}

// defaultK is the class size that health data are commonly published with.
const defaultK = 5

// YAML is the section "tables" of a configuration or a policy file, with comments
// that say why.
func (d Draft) YAML() string {
	var b strings.Builder
	line := func(indent int, format string, arguments ...any) {
		b.WriteString(strings.Repeat("  ", indent))
		fmt.Fprintf(&b, format, arguments...)
		b.WriteByte('\n')
	}
	line(0, "# A draft from %d records: read every line, and decide who could know what.", d.Records)
	line(0, "# %.1f %% of the records are alone with their quasi-identifying values.", 100*d.Unique)
	line(0, "tables:")
	line(1, "%s:", quote(d.Table.Schema+"."+d.Table.Relation))
	line(2, "method: rounded-partition")
	line(2, "constraints:")
	line(3, "- k: %d", defaultK)
	for _, c := range d.Choices {
		if c.Role == catalog.Sensitive {
			line(3, "# - {l: 2, of: %s}   # at least two different values in every class", quote(c.Column))
		}
	}
	if d.Subject != nil {
		line(2, "# subject: %s   # %s", quote(d.Subject.Column), d.Subject.Why)
	}
	line(2, "# updates: guarded   # where readers may compare versions, and know when a person came or left")
	line(2, "columns:")
	shown := make(map[hierarchy.Kind]bool)
	for _, c := range d.Choices {
		line(3, "# %s", c.Why)
		if c.Note != "" {
			line(3, "# %s", c.Note)
		}
		if c.Role == catalog.QuasiIdentifying && !shown[c.Kind] {
			shown[c.Kind] = true
			for _, option := range options[c.Kind] {
				line(3, "# %s", option)
			}
		}
		d.writeColumn(line, c)
	}
	return b.String()
}

// options say what a hierarchy can be told beside its kind, where the kind comes
// up first.
var options = map[hierarchy.Kind][]string{
	hierarchy.Numeric: {"fixed intervals tell less than exact bounds: {kind: numeric, steps: [5, 10, 50]}"},
	hierarchy.Date:    {"calendar units tell less than exact bounds: {kind: date, units: [month, year, decade]}"},
	hierarchy.Prefix:  {"at most three characters, else two: {kind: prefix, keep: [3, 2]}"},
	hierarchy.Categorical: {
		"a taxonomy can be a file of lines such as nurse;care;*: {kind: categorical, file: FILE.csv}",
		"values with an order: {kind: ordered, values: [low, middle, high]}",
	},
}

func (d Draft) writeColumn(line func(int, string, ...any), c Choice) {
	if c.Role != catalog.QuasiIdentifying {
		line(3, "%s: %v", quote(c.Column), c.Role)
		return
	}
	if c.Kind == hierarchy.Categorical && len(c.Labels) > 2 {
		line(3, "# put similar values under a common label: taxonomy: {LABEL: [...], LABEL: [...]}")
		line(3, "# the frequent ones: %s", quoteAll(c.Labels))
	}
	line(3, "%s: {role: %v, hierarchy: %v}", quote(c.Column), c.Role, c.Kind)
}

// quote writes a text as a YAML scalar in double quotes, unless it is a plain
// word, which configurations take as it is.
func quote(text string) string {
	plain := text != ""
	for i, c := range text {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		inner := i > 0 && i < len(text)-1 && (c == '.' || c == '-')
		plain = plain && (letter || inner || i > 0 && c >= '0' && c <= '9')
	}
	if plain {
		return text
	}
	// Go's escapes of what cannot be printed, line breaks of every kind among it,
	// are YAML's as well.
	return strconv.Quote(text)
}

func quoteAll(texts []string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = quote(t)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
