package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kproxy/kproxy/internal/bench/result"
)

const beginning = `# Benchmarks

<!-- environment: none -->
<!-- Made by: go run ./internal/bench -render. Edit internal/bench/, or measure again. -->

Each section lists the commands that measured its figures, with the peers in the same run. The files in
[benchmarks](benchmarks) have all rounds, the machine and the versions. ` + "`make bench`" + ` repeats
everything in a quarter of an hour, except other programs that you must provide. ` + "`make bench-full`" + `
adds large tables, many clients and a whole day, in about four hours, or with
` + "`ARGS=\"-only proxy\"`" + ` one section in at most three quarters of an hour (the day takes 80 minutes);
` + "`-continue`" + ` resumes after an interruption. Both fail when something is wrong, never because
something is slow.

A figure is the median of its rounds, with the minimum and maximum in parentheses. A
ratio is that of the medians, with the smallest and largest ratio of two values of the same
round. "Others" is the share of the machine that other processes took. If it is more than
a few percent, trust ratios and processor times more than rates.

`

// write makes the page and the pictures of the files that are there.
func (o options) write() error {
	var page strings.Builder
	page.WriteString(beginning)
	measured := map[string]*result.Section{}
	for _, s := range sections {
		figures, err := result.Read(o.file(s.name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		measured[s.name] = figures
	}
	writeOrigins(&page, measured)
	for _, s := range sections {
		if measured[s.name] == nil {
			continue
		}
		if err := o.writeSection(&page, s, measured[s.name]); err != nil {
			return err
		}
	}
	writeClaims(&page, measured)
	if err := os.WriteFile(o.page, []byte(strings.TrimRight(page.String(), "\n")+"\n"), 0o644); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// writeOrigins lists size, date and commit of each section, because they need not have been
// measured together.
func writeOrigins(page *strings.Builder, measured map[string]*result.Section) {
	page.WriteString("| section | size | measured | commit |\n| --- | --- | --- | --- |\n")
	for _, s := range sections {
		if m := measured[s.name]; m != nil {
			fmt.Fprintf(page, "| %s | %s | %s | %s |\n", s.title, m.Size, m.Date.Format(time.DateOnly), m.Commit)
		}
	}
	page.WriteString("\n")
}

func (o options) writeSection(page *strings.Builder, s section, measured *result.Section) error {
	fmt.Fprintf(page, "## %s\n\n%s\n\n", s.title, s.text)
	folder, err := filepath.Rel(filepath.Dir(o.page), o.out)
	if err != nil {
		return err
	}
	for _, p := range s.charts {
		drawn, err := p.draw(o.out, measured)
		if err != nil {
			return err
		}
		if drawn {
			fmt.Fprintf(page, "![%s](%s)\n", p.title, filepath.ToSlash(filepath.Join(folder, p.file+".svg")))
		}
	}
	page.WriteString("\n")
	if measured.Failed {
		page.WriteString("**Failed:** a command of this section found something wrong.\n\n")
	}
	writeBusy(page, measured)
	for _, v := range s.views {
		v.write(page, measured)
	}
	writeMachine(page, measured)
	return nil
}

// writeMachine tells what the section was measured on and with.
func writeMachine(page *strings.Builder, s *result.Section) {
	m := s.Machine
	fmt.Fprintf(page, "%s size, %s, commit %s; %d cores (%s), %.0f GB, %s", s.Size, s.Date.Format(time.DateOnly), s.Commit,
		m.Cores, m.Processor, math.Round(float64(m.Memory)/(1<<30)), m.System)
	for _, name := range sortedKeys(s.Versions) {
		fmt.Fprintf(page, "; %s %s", name, s.Versions[name])
	}
	page.WriteString(".")
	for _, missing := range s.Missing {
		fmt.Fprintf(page, " Missing: %s.", missing)
	}
	page.WriteString("\n\n```text\n")
	for _, c := range s.Commands {
		marked := ""
		if c.Others > busy {
			marked = ": busy"
		}
		fmt.Fprintf(page, "%s   # %.0f s, others %.0f %%%s\n", c.Line, c.Seconds, 100*c.Others, marked)
	}
	page.WriteString("```\n\n")
}
