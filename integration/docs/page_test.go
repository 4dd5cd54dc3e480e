package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// page is a document of the repository.
type page struct {
	path   string // from the repository's root
	text   string
	blocks []block
	prose  string // the lines outside of blocks
}

// block is a fenced block of a page.
type block struct {
	line   int // of the first line within
	lang   string
	text   string
	reason string // why it is not run; empty = it is
}

// pages are README.md and all of docs/, in order.
func pages(t *testing.T) []page {
	t.Helper()
	paths := []string{"README.md"}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			path, err = filepath.Rel(root, path)
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all := make([]page, len(paths))
	for i, path := range paths {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		all[i] = parse(path, string(text))
	}
	return all
}

var notRun = regexp.MustCompile(`^<!-- not run: (.+) -->$`)

// parse takes a page apart.
func parse(path, text string) page {
	p := page{path: path, text: text}
	var open *block
	var prose []string
	reason := ""
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch fence := strings.HasPrefix(trimmed, "```"); {
		case fence && open == nil:
			open = &block{line: i + 2, lang: strings.TrimPrefix(trimmed, "```"), reason: reason}
		case fence:
			p.blocks, open = append(p.blocks, *open), nil
		case open != nil:
			open.text += line + "\n"
			continue
		default:
			prose = append(prose, line)
		}
		if trimmed != "" {
			reason = ""
		}
		if found := notRun.FindStringSubmatch(trimmed); found != nil {
			reason = found[1]
		}
	}
	p.prose = strings.Join(prose, "\n")
	return p
}

// runs tells whether a block needs an environment.
func (b block) runs() bool {
	return b.reason == "" && slices.Contains([]string{"sh", "console", "psql", "sql"}, b.lang)
}

var environment = regexp.MustCompile(`(?m)\A(?:#.*\n\n*)?<!-- environment: (.*?) -->$`)

// environment is what the page asks for: none, bare, "N patients", "N persons", or nothing.
func (p page) environment() string {
	if found := environment.FindStringSubmatch(p.text); found != nil {
		return found[1]
	}
	return ""
}

// generated tells whether the page is made of the code, whose own texts it shows.
func (p page) generated() bool { return strings.Contains(p.text, "<!-- Made by: ") }

// code is everything of a page that can hold a command: blocks and `inline code`.
func (p page) code() []string {
	var all []string
	for _, b := range p.blocks {
		if b.lang == "sh" || b.lang == "console" {
			all = append(all, strings.ReplaceAll(b.text, "\\\n", " "))
		}
	}
	for _, inline := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(p.prose, -1) {
		all = append(all, strings.Join(strings.Fields(inline[1]), " "))
	}
	return all
}

// TestBlocks looks that nothing escapes: what looks like a command is in a block that is
// run, and what is not run says why.
func TestBlocks(t *testing.T) {
	t.Parallel()
	command := regexp.MustCompile(`(?m)^(\$ |kproxy |bin/kproxy |make |psql |docker |kubectl |curl )`)
	known := []string{"sh", "console", "psql", "sql", "yaml", "json"}
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if b.reason != "" {
				t.Logf("%s:%d: not run: %s", p.path, b.line, b.reason)
				if len(strings.Fields(b.reason)) < 3 {
					t.Errorf("%s:%d: say more than %q", p.path, b.line, b.reason)
				}
			} else if !slices.Contains(known, b.lang) && command.MatchString(b.text) && !p.generated() {
				t.Errorf("%s:%d: a command in a block of %q, which is not run", p.path, b.line, b.lang)
			}
		}
	}
}
