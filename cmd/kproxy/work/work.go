// Package work follows how far tables are being published, for progress on a terminal, 'kproxy status' and
// the console.
package work

import (
	"fmt"
	"slices"
	"time"

	"github.com/kproxy/kproxy/catalog"
	ksync "github.com/kproxy/kproxy/sync"
)

// entry is one stage of one table's publication.
type entry struct {
	at ksync.Progress
	// began is when the stage was first told of, with first records done: where work
	// goes on that began earlier, those do not count for its rate.
	began time.Time
	first int
	told  time.Time
}

// List are the tables being published, in the order in which they began.
type List []entry

// Stale is how long a table is shown after it was last told of: stages say nothing
// of their end.
const Stale = 15 * time.Second

// Told notes where a table stands, and forgets those that are no longer told of.
func (l List) Told(at ksync.Progress, now time.Time) List {
	l = slices.DeleteFunc(l, func(one entry) bool { return now.Sub(one.told) > Stale })
	i := slices.IndexFunc(l, func(one entry) bool { return one.at.Table == at.Table })
	if i < 0 {
		l, i = append(l, entry{}), len(l)
	}
	l[i].tell(at, now)
	return l
}

// tell notes where the table stands. A stage that begins, or begins again, has a rate of its own.
func (e *entry) tell(at ksync.Progress, now time.Time) {
	if e.at.Stage != at.Stage || at.Done < e.at.Done || e.at.Table == (catalog.Name{}) {
		e.began, e.first = now, at.Done
	}
	e.at, e.told = at, now
}

// Lines is a line for each table; on a terminal, where there is one line for all, in
// short where there are several.
func (l List) Lines(terminal bool) []string {
	var lines []string
	for _, one := range l {
		if text := one.String(); !terminal || len(l) == 1 {
			lines = append(lines, text)
			continue
		}
		lines = append(lines, fmt.Sprintf("%s: %s %s", one.at.Table, one.at.Stage, one.share()))
	}
	return lines
}

// share is the part that is done, or the number where the whole is unknown.
func (e entry) share() string {
	if e.at.Total > 0 {
		return fmt.Sprintf("%d%%", 100*e.at.Done/e.at.Total)
	}
	return fmt.Sprint(e.at.Done)
}

// leastTime is how long a stage runs before its rate means something.
const leastTime = time.Second

// String says what is done, how fast, and how long the rest takes at that rate.
func (e entry) String() string {
	text := fmt.Sprintf("%s: %s %d records", e.at.Table, e.at.Stage, e.at.Done)
	if e.at.Total > 0 {
		text = fmt.Sprintf("%s: %s %d of %d records (%d%%)", e.at.Table, e.at.Stage, e.at.Done, e.at.Total, 100*e.at.Done/e.at.Total)
	}
	rate := e.rate()
	if rate == 0 {
		return text
	}
	text += fmt.Sprintf(", %.0f/s", rate)
	if left := e.left(); left > 0 {
		text += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	return text
}

// rate is how many records a second are done, 0 where that cannot be told.
func (e entry) rate() float64 {
	took, done := e.told.Sub(e.began), e.at.Done-e.first
	if took < leastTime || done <= 0 {
		return 0
	}
	if rate := float64(done) / took.Seconds(); rate >= 1 {
		return rate
	}
	return 0
}

// left is how long the rest of the stage takes at the rate so far, 0 where that cannot be told.
func (e entry) left() time.Duration {
	rest, rate := e.at.Total-e.at.Done, e.rate()
	if rest <= 0 || rate == 0 {
		return 0
	}
	return time.Duration(float64(rest) / rate * float64(time.Second))
}
