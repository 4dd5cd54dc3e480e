package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/kproxy/kproxy/catalog"
	ksync "github.com/kproxy/kproxy/sync"
)

// work is one stage of one table's publication.
type work struct {
	at ksync.Progress
	// began is when the stage was first told of, with first records done: where work
	// goes on that began earlier, those do not count for its rate.
	began time.Time
	first int
	told  time.Time
}

// works are the tables being published, in the order in which they began.
type works []work

// stale is how long a table is shown after it was last told of: stages say nothing
// of their end.
const stale = 15 * time.Second

// show tells of the publication of one table, beside which others can be under way.
func (p *progress) show(at ksync.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	p.work = p.work.told(at, now)
	if p.due() {
		p.draw(p.work.lines(p.terminal)...)
	}
}

// told notes where a table stands, and forgets those that are no longer told of.
func (w works) told(at ksync.Progress, now time.Time) works {
	w = slices.DeleteFunc(w, func(one work) bool { return now.Sub(one.told) > stale })
	i := slices.IndexFunc(w, func(one work) bool { return one.at.Table == at.Table })
	if i < 0 {
		w, i = append(w, work{}), len(w)
	}
	if w[i].at.Stage != at.Stage || at.Done < w[i].at.Done || w[i].at.Table == (catalog.Name{}) {
		w[i].began, w[i].first = now, at.Done
	}
	w[i].at, w[i].told = at, now
	return w
}

// lines is a line for each table; on a terminal, where there is one line for all, in
// short where there are several.
func (w works) lines(terminal bool) []string {
	var lines []string
	for _, one := range w {
		if text := one.String(); !terminal || len(w) == 1 {
			lines = append(lines, text)
			continue
		}
		lines = append(lines, fmt.Sprintf("%s: %s %s", one.at.Table, one.at.Stage, one.share()))
	}
	return lines
}

// share is the part that is done, or the number where the whole is unknown.
func (w work) share() string {
	if w.at.Total > 0 {
		return fmt.Sprintf("%d%%", 100*w.at.Done/w.at.Total)
	}
	return fmt.Sprint(w.at.Done)
}

// leastTime is how long a stage runs before its rate means something.
const leastTime = time.Second

// String says what is done, how fast, and how long the rest takes at that rate.
func (w work) String() string {
	text := fmt.Sprintf("%s: %s %d records", w.at.Table, w.at.Stage, w.at.Done)
	if w.at.Total > 0 {
		text = fmt.Sprintf("%s: %s %d of %d records (%d%%)", w.at.Table, w.at.Stage, w.at.Done, w.at.Total, 100*w.at.Done/w.at.Total)
	}
	took, done := w.told.Sub(w.began), w.at.Done-w.first
	if took < leastTime || done <= 0 {
		return text
	}
	rate := float64(done) / took.Seconds()
	if rate < 1 {
		return text
	}
	text += fmt.Sprintf(", %.0f/s", rate)
	if rest := w.at.Total - w.at.Done; rest > 0 {
		left := time.Duration(float64(rest) / rate * float64(time.Second))
		text += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	return text
}
