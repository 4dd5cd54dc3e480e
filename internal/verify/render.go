package verify

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteText writes the report for people, a line for each check.
func (r Report) WriteText(w io.Writer) error {
	var text strings.Builder
	for _, t := range r {
		if t.Generation == 0 {
			fmt.Fprintf(&text, "%s is not published yet\n", t.Table)
			continue
		}
		text.WriteString(t.summary() + "\n")
		writeChecks(&text, t.Checks)
		writeNotAsked(&text, t.NotAsked)
		for _, a := range t.Audiences {
			to := "published"
			if a.Unseen {
				to = "that it does not see"
			}
			fmt.Fprintf(&text, "  for %s: %s of %d to %d, %d rows %s\n", a.Audience, counted(a.Classes, "union"), a.Smallest, a.Largest, a.Rows, to)
			writeChecks(&text, a.Checks)
		}
	}
	if _, err := io.WriteString(w, text.String()); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// writeNotAsked tells of promises that SQL cannot prove.
func writeNotAsked(text *strings.Builder, promises []string) {
	for _, promise := range promises {
		fmt.Fprintf(text, "  not asked, as the private store is sealed: %s\n", promise)
	}
}

func writeChecks(text *strings.Builder, checks []Check) {
	for _, c := range checks {
		verdict := "ok  "
		if !c.Passed {
			verdict = "FAIL"
		}
		fmt.Fprintf(text, "  %s  %s", verdict, c.Name)
		if !c.Passed {
			text.WriteString(": " + counted(c.Violations, "violation"))
		}
		text.WriteByte('\n')
		for _, example := range c.Examples {
			fmt.Fprintf(text, "          %s\n", example)
		}
	}
}

// summary are the figures of one table.
func (t TableReport) summary() string {
	if t.Mirrored {
		return fmt.Sprintf("%s (generation %d), mirrored: %d rows stored, %d rows published; 'kproxy resync' compares them with the source", t.Table, t.Generation, t.Records, t.Rows)
	}
	text := fmt.Sprintf("%s (generation %d): %d records in %d classes of %d to %d, %d withheld, DM %d, %d rows published",
		t.Table, t.Generation, t.Records-t.Withheld, t.Classes, t.Smallest, t.Largest, t.Withheld, t.Discernibility, t.Rows)
	if t.Stale > 0 || t.Ghosts > 0 {
		text += fmt.Sprintf(", %d of them as they were and %d for nobody", t.Stale, t.Ghosts)
	}
	return text
}

// counted is a number of things.
func counted(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// WriteJSON writes the report for programs: an array of tables.
func (r Report) WriteJSON(w io.Writer) error {
	if r == nil {
		r = Report{}
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(r); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
