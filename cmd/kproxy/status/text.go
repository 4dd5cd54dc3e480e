package status

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/kproxy/kproxy/cmd/kproxy/certificates"
	"github.com/kproxy/kproxy/internal/state"
	"github.com/kproxy/kproxy/internal/units"
	"github.com/kproxy/kproxy/internal/visible"
	"github.com/kproxy/kproxy/proxy"
	"github.com/kproxy/kproxy/proxy/answers"
)

// WriteText writes the state for people: a few lines about replication, one line for each table,
// and what needs attention.
func (s Status) WriteText(w io.Writer) error {
	var text strings.Builder
	if r := s.Refused; r != nil {
		fmt.Fprintf(&text, "READERS ARE REFUSED since %s, for %s: %s\n", r.Since.Format(time.RFC3339), units.Age(s.At.Sub(r.Since)), r.Why)
	}
	s.writeReplication(&text)
	text.WriteByte('\n')
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TABLE\tSTATE\tUPDATES\tGENERATION\tRECORDS\tROWS\tCLASSES\tWITHHELD\tWAITING\tSTALE\tGHOSTS\tUNTOLD\tRETURNED\tEXPIRED\tPROOF")
	for _, t := range s.Tables {
		if t.Generation == 0 {
			fmt.Fprintf(table, "%s\t%s\t%s\n", visible.Text(t.Name), t.stateText(), t.Updates)
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s\n", visible.Text(t.Name), t.stateText(), t.Updates, t.Generation,
			t.figure(t.Records), t.figure(t.Rows), t.figure(t.Classes), t.figure(t.Withheld), s.counted(t.Waiting, t.OldestWaiting), s.counted(t.Stale, t.OldestStale), t.Ghosts, t.Untold, t.Returned, t.Expired, s.proofText(t.Proof))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	s.writeAudiences(&text)
	s.writeCounted(&text)
	s.writeGivenAway(&text)
	s.writeExpired(&text)
	if err := s.writeViews(&text); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	if len(s.Certificates) > 0 {
		text.WriteString("\n" + certificates.Table(s.Certificates))
	}
	for i, n := range s.Needs {
		if i == 0 {
			text.WriteByte('\n')
		}
		fmt.Fprintf(&text, "needs you: %s\n    fix: %s\n", n.What, strings.ReplaceAll(n.Fix, "\n", "\n         "))
	}
	if _, err := io.WriteString(w, text.String()); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	return nil
}

// figure is a number of records, rows or classes; a dash where they were not counted.
func (t Table) figure(n int64) string {
	if t.Uncounted {
		return "-"
	}
	return strconv.FormatInt(n, 10)
}

// writeCounted says of large tables when they were counted.
func (s Status) writeCounted(text *strings.Builder) {
	for _, t := range s.Tables {
		switch {
		case t.Figures == nil:
		case t.Uncounted:
			fmt.Fprintf(text, "\n%s has not been counted since it was published: a process that serves does it, or 'kproxy status --count'\n", visible.Text(t.Name))
		case t.CountedAt != nil:
			fmt.Fprintf(text, "\n%s was counted %s ago; 'kproxy status --count' counts it again\n", visible.Text(t.Name), units.Age(s.At.Sub(*t.CountedAt)))
		}
	}
}

// writeGivenAway says what readers learn from tables with immediate updates.
func (s Status) writeGivenAway(text *strings.Builder) {
	var tables []string
	what := ""
	for _, t := range s.Tables {
		if t.GivesAway != "" {
			tables, what = append(tables, t.Name), t.GivesAway
		}
	}
	if len(tables) > 0 {
		fmt.Fprintf(text, "\nimmediate updates of %s: %s (docs/attack.md)\n", strings.Join(tables, ", "), what)
	}
}

// writeExpired names the published tables with records that will never be published, and the
// fix. For a table of which nothing is published, that is among what needs attention.
func (s Status) writeExpired(text *strings.Builder) {
	for _, t := range s.Tables {
		if t.Expired > 0 && t.State == StatePublished {
			fmt.Fprintf(text, "\n%s of %s are withheld for good: they waited until the deadline, or violated the constraints with all others of their batch;\n%s (docs/concepts.md)\n",
				units.Count(int(t.Expired), "record", "records"), t.Name, fixExpired(t.Name))
		}
	}
}

func (s Status) writeReplication(text *strings.Builder) {
	r := s.Replication
	switch {
	case r.Away != "":
		fmt.Fprintf(text, "the source cannot be asked: nothing is known of replication slot %s, nor of who applies\n", r.Slot)
	case r.Position == "":
		fmt.Fprintf(text, "nothing has been published through replication slot %s yet\n", r.Slot)
	case !r.Exists:
		fmt.Fprintf(text, "replication slot %s is gone\n", r.Slot)
	case r.Applier != nil:
		from := r.Applier.Address
		if from == "" {
			from = "the server's machine"
		}
		fmt.Fprintf(text, "replication slot %s is read by a kproxy at %s, connected for %s\n", r.Slot, from, units.Age(s.At.Sub(r.Applier.Since)))
	default:
		fmt.Fprintf(text, "replication slot %s is not read by any kproxy\n", r.Slot)
	}
	switch {
	case r.Position != "" && r.Away != "":
		fmt.Fprintf(text, "shown is the source at %s, reached %s ago\n", r.Position, units.Age(s.At.Sub(r.Since)))
	case r.Position != "":
		fmt.Fprintf(text, "shown is the source at %s, reached %s ago, %s of write-ahead log behind the server\n", r.Position, units.Age(s.At.Sub(r.Since)), units.Bytes(r.Behind))
	}
	if r.Standby != nil {
		text.WriteString(standbyText(*r.Standby, s.At))
	}
	if r.Exists {
		fmt.Fprintf(text, "confirmed is %s; the server keeps %s of its log for the slot", r.Confirmed, units.Bytes(r.Retained))
		if r.WALStatus != "" {
			fmt.Fprintf(text, " (%s", r.WALStatus)
			if r.Safe != nil {
				fmt.Fprintf(text, ", %s until it is in danger", units.Bytes(*r.Safe))
			}
			text.WriteByte(')')
		}
		text.WriteByte('\n')
	}
	if len(s.SealedWith) > 0 {
		fmt.Fprintf(text, "the private store is sealed with key %s\n", strings.Join(s.SealedWith, ", "))
	}
	fmt.Fprintf(text, "kproxy serves in %s", units.Count(r.Processes, "process", "processes"))
	var all proxy.Counts
	var kept answers.Stats
	for _, c := range s.Clients {
		all.Connections += c.Connections
		all.Sessions += c.Sessions
		kept = kept.Plus(c.Answers)
	}
	if len(s.Clients) > 0 {
		fmt.Fprintf(text, ": %s, %s", units.Count(all.Sessions, "session", "sessions"), units.Count(all.Connections, "connection", "connections"))
	}
	if s.Silent > 0 {
		fmt.Fprintf(text, "; %d did not answer", s.Silent)
	}
	text.WriteByte('\n')
	if kept.Limit > 0 {
		fmt.Fprintf(text, "it keeps %s to questions (%s of %s), which have answered %d of %d\n",
			units.Count(kept.Answers, "answer", "answers"), units.Bytes(int64(kept.Bytes)), units.Bytes(kept.Limit), kept.Hits, kept.Hits+kept.Misses)
	}
}

// stateText is the table's state, with the request that is not done yet, and how far that is.
func (t Table) stateText() string {
	text := t.State
	if t.Asked != "" {
		text += ", " + t.Asked
	}
	if t.Work != nil {
		text += ", " + t.Work.String()
	}
	return text
}

// proofText is the result of the last proof for the release that readers see.
func (s Status) proofText(p *state.Proof) string {
	switch {
	case p == nil:
		return "none"
	case p.Earlier:
		return "of an earlier release"
	case p.Passed:
		return "holds, " + units.Age(s.At.Sub(p.At)) + " ago"
	default:
		return "fails, " + units.Age(s.At.Sub(p.At)) + " ago"
	}
}

// WriteJSON writes the state for programs.
func (s Status) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(s); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	return nil
}

// counted is a number of records, with the age of the oldest.
func (s Status) counted(n int64, oldest *time.Time) string {
	if n == 0 || oldest == nil {
		return strconv.FormatInt(n, 10)
	}
	return fmt.Sprintf("%d, for %s", n, units.Age(s.At.Sub(*oldest)))
}
