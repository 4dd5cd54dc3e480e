package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/kproxy/kproxy/internal/bench/result"
)

// pace tells how far a run is, and by what was reckoned of its steps and what they took, when
// it will be done.
type pace struct {
	out   io.Writer
	began time.Time
	// steps of all sections; done are those that are over, in whatever way.
	steps, done int
	// reckoned is what the steps that were run should have taken, took what they did, and
	// left what is reckoned of the others.
	reckoned, took, left time.Duration
	stop                 func() // ends the beat of the step that runs
}

// beat is how often is told that a step still runs.
const beat = 5 * time.Minute

func (p *pace) add(steps ...step) {
	p.steps += len(steps)
	for _, s := range steps {
		p.left += s.about
	}
}

// skip leaves steps out.
func (p *pace) skip(steps ...step) {
	p.done += len(steps)
	for _, s := range steps {
		p.left -= s.about
	}
}

// announce tells what will be done.
func (p *pace) announce(chosen []section) {
	var names []string
	for _, s := range chosen {
		names = append(names, s.name)
	}
	fmt.Fprintf(p.out, "%s: %d steps, reckoned %s on two quiet cores\n", strings.Join(names, ", "), p.steps, short(p.left))
}

// begin tells of a step, and then now and again that it runs.
func (p *pace) begin(where string, s step, line string) {
	fmt.Fprintf(p.out, "%s %s; step %d of %d, %s so far, some %s to go: %s\n", time.Now().UTC().Format(time.TimeOnly), where,
		p.done+1, p.steps, short(time.Since(p.began)), short(p.togo()), line)
	ended := make(chan struct{})
	var group sync.WaitGroup
	p.stop = func() { close(ended); group.Wait() }
	begin := time.Now()
	group.Go(func() {
		ticker := time.NewTicker(beat)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				fmt.Fprintf(p.out, "         %s, %s of %s reckoned\n", where, short(time.Since(begin)), short(s.about))
			}
		}
	})
}

// end tells what came of the step.
func (p *pace) end(s step, command result.Command, figures int) {
	p.stop()
	p.done++
	p.left -= s.about
	p.reckoned += s.about
	p.took += time.Duration(command.Seconds * float64(time.Second))
	fmt.Fprintf(p.out, "         %.0f s of %.0f reckoned, %d figures, others took %.0f %% of the machine\n",
		command.Seconds, s.about.Seconds(), figures, 100*command.Others)
}

// enough steps have been run to go by what they took.
const enough = 5 * time.Minute

// togo is how long the steps that are left will take, if they are as much slower than
// reckoned as those before.
func (p *pace) togo() time.Duration {
	if p.reckoned < enough {
		return p.left
	}
	return time.Duration(float64(p.left) * float64(p.took) / float64(p.reckoned))
}

// short writes hours and minutes, or seconds of less than two minutes.
func short(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	d = d.Round(time.Minute)
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}
