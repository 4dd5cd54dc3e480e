package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/kproxy/kproxy/cmd/kproxy/work"
	"github.com/kproxy/kproxy/internal/visible"
	ksync "github.com/kproxy/kproxy/sync"
)

// progress shows how far long work is: on a terminal one line that is drawn over,
// elsewhere a line every few seconds.
type progress struct {
	out      io.Writer
	terminal bool
	now      func() time.Time

	mu    sync.Mutex
	last  time.Time
	shown bool
	work  work.List
}

const (
	terminalInterval = 100 * time.Millisecond
	logInterval      = 5 * time.Second
)

func newProgress(out *os.File) *progress {
	info, err := out.Stat()
	return &progress{out: visible.Writer(out), terminal: err == nil && info.Mode()&os.ModeCharDevice != 0, now: time.Now, last: time.Now()}
}

// say draws the text, unless the last one was drawn a moment ago.
func (p *progress) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.due() {
		p.draw(text)
	}
}

// show tells of the publication of one table, beside which others can be under way.
func (p *progress) show(at ksync.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.work = p.work.Told(at, p.now())
	if p.due() {
		p.draw(p.work.Lines(p.terminal)...)
	}
}

// due tells whether the last drawing is old enough for another one.
func (p *progress) due() bool {
	pace := logInterval
	if p.terminal {
		pace = terminalInterval
	}
	return p.now().Sub(p.last) >= pace
}

func (p *progress) draw(lines ...string) {
	p.last, p.shown = p.now(), true
	if p.terminal {
		fmt.Fprintf(p.out, "\r\x1b[K%s", strings.Join(lines, "; "))
		return
	}
	for _, line := range lines {
		fmt.Fprintln(p.out, line)
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
