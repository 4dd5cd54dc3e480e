package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kproxy/kproxy/internal/bench/host"
	"github.com/kproxy/kproxy/internal/bench/result"
)

// measure runs the sections that are asked for.
func (o options) measure(ctx context.Context) error {
	var chosen []section
	for _, s := range sections {
		if len(o.only) == 0 || slices.Contains(o.only, s.name) {
			chosen = append(chosen, s)
		}
	}
	return o.measureAll(ctx, chosen)
}

// measureAll runs sections and writes their files. One that fails keeps the others from
// nothing: its file stays as it was, and what of it was measured is taken over by -continue.
func (o options) measureAll(ctx context.Context, chosen []section) error {
	if err := o.build(ctx); err != nil {
		return err
	}
	if err := o.prepare(chosen); err != nil {
		return err
	}
	now := commit(ctx)
	p := &pace{out: o.progress, began: time.Now()}
	for _, s := range chosen {
		p.add(o.stepsOf(s)...)
	}
	p.announce(chosen)
	var failed error
	for i, s := range chosen {
		if len(o.stepsOf(s)) == 0 {
			fmt.Fprintf(o.progress, "%s: nothing to measure was given, the figures of last time stay\n", s.name)
			continue
		}
		if lacking := o.wouldLose(s); lacking != "" {
			p.skip(o.stepsOf(s)...)
			fmt.Fprintf(o.progress, "%s: the figures of last time stay, as they are beside what is not there now: %s\n", s.name, lacking)
			continue
		}
		if o.goOn && o.isMeasured(s, now) {
			p.skip(o.stepsOf(s)...)
			fmt.Fprintf(o.progress, "%s was measured before\n", s.name)
			continue
		}
		measured, err := o.section(ctx, s, now, p)
		if measured != nil {
			err = o.conclude(s, measured, err)
		}
		if ctx.Err() != nil {
			fmt.Fprintf(o.progress, "interrupted; to go on: go run ./internal/bench%s\n", o.again(chosen[i:]))
			return errors.Join(failed, ctx.Err())
		}
		if err != nil {
			fmt.Fprintf(o.progress, "%s failed: %v\n", s.name, err)
			failed = errors.Join(failed, fmt.Errorf("section %s: %w", s.name, err))
		}
	}
	return failed
}

// prepare tells before hours have passed what stands in the way.
func (o options) prepare(chosen []section) error {
	for _, folder := range []string{o.out, o.unfinished} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	if _, err := exec.LookPath(o.tools.kproxy); err != nil {
		return fmt.Errorf("finding kproxy: %w", err)
	}
	var lacking []string
	for _, s := range chosen {
		var need host.Room
		for _, one := range o.stepsOf(s) {
			need.Memory, need.Disk = max(need.Memory, one.room.Memory), max(need.Disk, one.room.Disk)
			if isMissing(one) {
				fmt.Fprintf(o.progress, "%s: left out is %s\n", s.name, one.missing)
			}
		}
		for _, lack := range need.Lacking() {
			lacking = append(lacking, s.name+" takes "+lack)
		}
	}
	if len(lacking) > 0 && !o.cramped {
		return fmt.Errorf("%s; choose sections by -only, or begin all the same with -cramped", strings.Join(lacking, "; "))
	}
	return nil
}

func isMissing(s step) bool {
	if s.needs == "" {
		return false
	}
	if strings.Contains(s.needs, "/") {
		_, err := os.Stat(s.needs)
		return err != nil
	}
	_, err := exec.LookPath(s.needs)
	return err != nil
}

// wouldLose is what is not there of a section that was measured before beside it: measured
// without it, the page would have lost what it compares with. It is empty where nothing is lost.
func (o options) wouldLose(s section) string {
	there, err := result.Read(o.file(s.name))
	if err != nil {
		return ""
	}
	for _, one := range o.stepsOf(s) {
		if isMissing(one) && !slices.Contains(there.Missing, one.missing) {
			return one.missing
		}
	}
	return ""
}

// again are the flags that go on with the sections that are left.
func (o options) again(left []section) string {
	words := []string{"", "-continue"}
	if o.size == full {
		words = append(words, "-full")
	}
	if o.cramped {
		words = append(words, "-cramped")
	}
	var names []string
	for _, s := range left {
		names = append(names, s.name)
	}
	if o.rounds != 0 {
		words = append(words, "-rounds", strconv.Itoa(o.rounds))
	}
	words = append(words, "-only", strings.Join(names, ","), "-kproxy", o.tools.kproxy, "-out", o.out, "-page", o.page, "-unfinished", o.unfinished)
	for _, peer := range o.tools.peers {
		words = append(words, "-peer", peer)
	}
	return step{words: words}.line()
}

// conclude writes the file of a section of which all is measured. Parts of one in which
// something was wrong stay, so that -continue measures what failed again, and no more.
func (o options) conclude(s section, measured *result.Section, failed error) error {
	failed = errors.Join(failed, s.unfed(measured))
	measured.Failed = failed != nil
	failed = errors.Join(failed, measured.Write(o.file(s.name)))
	if failed == nil {
		failed = o.finish(s)
	}
	return failed
}

// section runs all steps of one. It is nil where one of them has no figures.
func (o options) section(ctx context.Context, s section, commit string, p *pace) (*result.Section, error) {
	measured := &result.Section{
		Name: s.name, Size: string(o.size), Date: time.Now().UTC().Truncate(time.Second), Commit: commit,
		Machine: host.Machine(), Versions: versions(ctx),
	}
	steps := o.stepsOf(s)
	if other := o.otherProgram(s, commit); other != "" {
		fmt.Fprintf(o.progress, "%s: %s is %s, and what it is measured with of %s\n", s.name, o.tools.kproxy, other, commit)
		measured.Versions[program] = other
	}
	var failed error
	lost := false
	for i, one := range steps {
		if isMissing(one) {
			measured.Missing = append(measured.Missing, one.missing)
			p.skip(one)
			continue
		}
		part := *measured
		if o.goOn && o.takeOver(i, one, &part) {
			p.skip(one)
			fmt.Fprintf(o.progress, "%s, %d of %d: taken over: %s\n", s.name, i+1, len(steps), o.line(one))
		} else {
			part.Commands, part.Figures = make([]result.Command, 1), nil
			part.Date = time.Now().UTC().Truncate(time.Second)
			var err error
			p.begin(fmt.Sprintf("%s, %d of %d", s.name, i+1, len(steps)), one, o.line(one))
			part.Commands[0], part.Figures, err = o.run(ctx, one)
			p.end(one, part.Commands[0], len(part.Figures))
			takeVersions(part.Versions, part.Figures)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", o.line(one), err))
			} else {
				failed = errors.Join(failed, part.Write(o.unfinishedFile(s.name, i)))
			}
		}
		maps.Copy(measured.Versions, part.Versions)
		lost = lost || len(part.Figures) == 0
		measured.Commands = append(measured.Commands, part.Commands...)
		measured.Figures = append(measured.Figures, part.Figures...)
		if part.Date.Before(measured.Date) {
			measured.Date = part.Date
		}
	}
	if lost {
		return nil, failed
	}
	result.CompareWith(measured.Figures, s.way, s.others...)
	return measured, failed
}

// takeVersions moves what a command says of the versions of those it has measured, which
// is no parameter that figures differ by, to the other versions.
func takeVersions(to map[string]string, from []result.Figure) {
	for _, f := range from {
		if version, told := f.Parameters["version"]; told {
			to[f.Way] = version
			delete(f.Parameters, "version")
		}
	}
}

func (o options) file(name string) string { return filepath.Join(o.out, name+".json") }

func (o options) unfinishedFile(name string, step int) string {
	return filepath.Join(o.unfinished, fmt.Sprintf("%s-%d.json", name, step+1))
}

// isMeasured says whether a section's file is of this size, these sources and this machine,
// and of the commands that would be run now.
func (o options) isMeasured(s section, commit string) bool {
	there, err := result.Read(o.file(s.name))
	if err != nil || !there.IsOf(string(o.size), commit, host.Machine()) || there.Versions[program] != o.otherProgram(s, commit) {
		return false
	}
	var were, are []string
	for _, c := range there.Commands {
		were = append(were, c.Line)
	}
	for _, one := range o.stepsOf(s) {
		if !isMissing(one) {
			are = append(are, o.line(one))
		}
	}
	return slices.Equal(were, are)
}

// takeOver fills a part with what was measured of a step before the run was interrupted.
func (o options) takeOver(i int, s step, part *result.Section) bool {
	there, err := result.Read(o.unfinishedFile(part.Name, i))
	if err != nil || !there.IsOf(part.Size, part.Commit, part.Machine) || there.Versions[program] != part.Versions[program] || len(there.Commands) != 1 || there.Commands[0].Line != o.line(s) {
		return false
	}
	*part = *there
	return true
}

// finish removes what was kept of a section that is measured as a whole.
func (o options) finish(s section) error {
	parts, err := filepath.Glob(filepath.Join(o.unfinished, s.name+"-*.json"))
	for _, part := range parts {
		err = errors.Join(err, os.Remove(part))
	}
	return err
}
