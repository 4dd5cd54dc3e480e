package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// command is one that kproxy has: its further commands and its flags.
type command struct {
	commands, flags map[string]bool
}

var (
	commandLine = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) +\S`)
	flagLine    = regexp.MustCompile(`(?m)^ +(?:(-\w), )?(--[a-z][a-z-]*)`)
	invocation  = regexp.MustCompile(`(?m)(?:^|[;|&(!] *|sudo |\$ )(?:bin/)?kproxy((?: +[^\s;|&#)]+)+)`)
	target      = regexp.MustCompile(`\bmake ([a-z][a-z-]*)`)
)

// described asks kproxy what a command takes.
func described(program string, words []string) command {
	help, _ := exec.Command(program, append(words, "--help")...).Output() // no help, no flags
	c := command{commands: make(map[string]bool), flags: map[string]bool{"-h": true, "--help": true}}
	_, listed, _ := strings.Cut(string(help), "Available Commands:")
	listed, _, _ = strings.Cut(listed, "\nFlags:")
	for _, found := range commandLine.FindAllStringSubmatch(listed, -1) {
		c.commands[found[1]] = true
	}
	_, options, _ := strings.Cut(string(help), "\nFlags:")
	for _, found := range flagLine.FindAllStringSubmatch(options, -1) {
		c.flags[found[1]], c.flags[found[2]] = true, true
	}
	return c
}

// TestCommands looks for every command and flag of kproxy that the documentation names.
func TestCommands(t *testing.T) {
	t.Parallel()
	known := make(map[string]command)
	var mu sync.Mutex
	ask := func(words []string) command {
		mu.Lock()
		defer mu.Unlock()
		key := strings.Join(words, " ")
		if _, ok := known[key]; !ok {
			known[key] = described(program(t), words)
		}
		return known[key]
	}
	hidden := map[string]bool{"help": true, "completion": true}
	for _, p := range pages(t) {
		for _, code := range p.code() {
			for _, found := range invocation.FindAllStringSubmatch(code, -1) {
				var words []string
				here := ask(nil)
				for _, word := range strings.Fields(found[1]) {
					word = strings.Trim(word, `'",.)]`)
					flag, _, _ := strings.Cut(strings.Trim(word, "[("), "=")
					switch {
					case strings.HasPrefix(flag, "-") && flag != "-" && flag != "--":
						if !here.flags[flag] {
							t.Errorf("%s: kproxy %s has no flag %s, in %q", p.path, strings.Join(words, " "), flag, found[0])
						}
					case here.commands[word]:
						words = append(words, word)
						here = ask(words)
					case len(words) == 0 && !hidden[word] && !strings.ContainsAny(word, "<>…$*"):
						t.Errorf("%s: there is no command %q, in %q", p.path, word, found[0])
					}
				}
			}
		}
	}
}

// TestTargets looks for every target of make that the documentation names.
func TestTargets(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages(t) {
		for _, code := range append(p.code(), indented(p.prose)...) {
			for _, found := range target.FindAllStringSubmatch(code, -1) {
				if !regexp.MustCompile(`(?m)^[a-z -]*\b` + found[1] + `\b[a-z -]*:`).Match(makefile) {
					t.Errorf("%s: there is no target %s", p.path, found[1])
				}
			}
		}
	}
}

// indented are the lines of a page that are shown as they are because they are indented.
func indented(prose string) []string {
	return regexp.MustCompile(`(?m)^    (.+)$`).FindAllString(prose, -1)
}
