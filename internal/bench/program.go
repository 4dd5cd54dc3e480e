package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// usualProgram is the one that is measured where no other is given.
const usualProgram = "bin/kproxy"

// program is the name of kproxy among the versions of a section, where it is of other sources
// than the commit of the section.
const program = "kproxy"

// unnamed are sources of which a program does not say which they are.
const unnamed = "of unknown sources"

// sourcesOf are the commit of which a program of Go was built, and whether files differed from
// it: what `kproxy version` tells of itself, without running it.
func sourcesOf(path string) (commit string, changed bool) {
	path, err := exec.LookPath(path)
	if err != nil {
		return "", false
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return "", false
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value
		case "vcs.modified":
			changed = s.Value == "true"
		}
	}
	return commit, changed
}

// build builds the usual program of the sources, as make build does; another one is taken as
// it is.
func (o options) build(ctx context.Context) error {
	if o.tools.kproxy != usualProgram {
		return nil
	}
	output, err := exec.CommandContext(ctx, "go", "build", "-o", usualProgram, "./cmd/kproxy").CombinedOutput()
	if err != nil {
		return fmt.Errorf("building kproxy: %w: %s", err, output)
	}
	return nil
}

// otherProgram names the program that a section measures, if it is not of the section's
// sources or does not say so.
func (o options) otherProgram(s section, sources string) string {
	measures := slices.ContainsFunc(o.stepsOf(s), func(one step) bool {
		return slices.ContainsFunc(one.words, func(word string) bool { return word == o.tools.kproxy || word == program+"="+o.tools.kproxy })
	})
	if !measures || o.tools.kproxy == usualProgram {
		return ""
	}
	commit, changed := sourcesOf(o.tools.kproxy)
	if isOf(commit, sources) && changed == strings.HasSuffix(sources, "+") {
		return ""
	}
	return called(commit, changed)
}

// isOf says whether a commit is that of sources, which are shortened and may have a "+".
func isOf(commit, sources string) bool {
	short := strings.TrimSuffix(sources, "+")
	return short != "" && strings.HasPrefix(commit, short)
}

// called shortens a commit as git does, with "+" where files differed from it.
func called(commit string, changed bool) string {
	const length = 7
	if len(commit) < length {
		return unnamed
	}
	name := "of commit " + commit[:length]
	if changed {
		name += "+"
	}
	return name
}
