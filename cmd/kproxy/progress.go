package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	ksync "github.com/kproxy/kproxy/sync"
)

// progress shows how far long work is: on a terminal one line that is drawn over,
// elsewhere a line every few seconds.
type progress struct {
	out      io.Writer
	terminal bool

	mu    sync.Mutex
	last  time.Time
	shown bool
}

const (
	terminalPace = 100 * time.Millisecond
	logPace      = 5 * time.Second
)

func newProgress(out *os.File) *progress {
	info, err := out.Stat()
	return &progress{out: out, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0, last: time.Now()}
}

// show tells of an initial publication.
func (p *progress) show(at ksync.Progress) {
	text := fmt.Sprintf("%s: %s %d records", at.Table, at.Stage, at.Done)
	if at.Total > 0 {
		text = fmt.Sprintf("%s: %s %d of %d records (%d%%)", at.Table, at.Stage, at.Done, at.Total, 100*at.Done/at.Total)
	}
	p.say(text)
}

// say draws the text, unless the last one was drawn a moment ago.
func (p *progress) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pace := logPace
	if p.terminal {
		pace = terminalPace
	}
	if time.Since(p.last) < pace {
		return
	}
	p.last, p.shown = time.Now(), true
	if p.terminal {
		fmt.Fprintf(p.out, "\r\x1b[K%s", text)
	} else {
		fmt.Fprintln(p.out, text)
	}
}

// gauge draws how much of the total is done.
func gauge(done, total int) string {
	const width = 20
	filled := width
	if total > 0 {
		filled = width * done / total
	}
	return "[" + strings.Repeat("#", filled) + strings.Repeat("-", width-filled) + "]"
}

// done leaves the terminal's line.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal && p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	p.shown = false
}
