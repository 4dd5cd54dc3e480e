package main

import (
	"strings"
	"time"

	"github.com/kproxy/kproxy/internal/bench/host"
	"github.com/kproxy/kproxy/internal/bench/result"
)

// size says how much is measured.
type size string

// The sizes. Tiny is for the tests: whether the commands work.
const (
	tiny  size = "tiny"
	small size = "small"
	full  size = "full"
)

// of picks by size.
func of[T any](s size, forTiny, forSmall, forFull T) T {
	switch s {
	case tiny:
		return forTiny
	case full:
		return forFull
	}
	return forSmall
}

// section is a set of figures that are measured together.
type section struct {
	name, title string
	// text stands below the heading of the page.
	text string
	// rounds by size, where the command line gives none.
	rounds map[size]int
	steps  func(p plan) []step
	// way and others are compared by ratios.
	way    string
	others []string
	views  []view
	charts []picture
}

// stepsOf are the steps that the options ask for.
func (o options) stepsOf(s section) []step {
	rounds := o.rounds
	if rounds == 0 {
		rounds = s.rounds[o.size]
	}
	return s.steps(plan{size: o.size, rounds: rounds, tools: o.tools, cramped: o.cramped})
}

// plan is what steps are made for.
type plan struct {
	size   size
	rounds int
	tools  tools
	// cramped says that steps which look for room themselves are to begin without it.
	cramped bool
}

// step is a command, and how its figures are read.
type step struct {
	words []string
	// read is given what the command printed, and the file or folder that stood for FILE
	// among its words.
	read func(printed []byte, file string) ([]result.Figure, error)
	// needs is a program, or a file by its path, without which the step is left out; missing says
	// what is then not compared, and what to install.
	needs, missing string
	// about is how long it takes on two quiet cores, from runs of it or of smaller cases.
	about time.Duration
	// room is what it needs of the machine, beyond a little.
	room host.Room
	// draws is the name of the picture that the command writes as FILE.svg.
	draws string
	// tells says that the figures are taken even when the command fails, as they tell what
	// was wrong.
	tells bool
}

// outputFile stands among a command's words for a file that it writes.
const outputFile = "FILE"

// taking is the step with the time and the room that it takes.
func (s step) taking(about time.Duration, room host.Room) step {
	s.about, s.room = about, room
	return s
}

// line is what one can type.
func (s step) line() string {
	words := make([]string, len(s.words))
	for i, word := range s.words {
		if strings.ContainsAny(word, " $^|()*?'") {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		words[i] = word
	}
	return strings.Join(words, " ")
}
