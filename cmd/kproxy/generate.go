package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newGenerate is for those who build packages: what it writes goes into them.
func newGenerate() *cobra.Command {
	c := &cobra.Command{
		Use:    "generate {man|completion} FOLDER",
		Short:  "Write manual pages or shell completions into a folder",
		Hidden: true,
	}
	c.Args = func(_ *cobra.Command, arguments []string) error {
		if len(arguments) != 2 || arguments[0] != "man" && arguments[0] != "completion" {
			return usageError{errors.New("generate takes man or completion, and a folder")}
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, arguments []string) error {
		if err := os.MkdirAll(arguments[1], 0o755); err != nil {
			return fmt.Errorf("making the folder: %w", err)
		}
		if arguments[0] == "man" {
			return writeManual(c.Root(), arguments[1])
		}
		return writeCompletions(c.Root(), arguments[1])
	}
	return c
}

// writeManual writes a page for each command, in section 1, dated by SOURCE_DATE_EPOCH
// (reproducible-builds.org), so that a build can be repeated.
func writeManual(root *cobra.Command, folder string) error {
	seconds, _ := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64) // 0, where it is not set
	date := time.Unix(seconds, 0).UTC()
	root.DisableAutoGenTag = true
	root.InitDefaultCompletionCmd()
	keepTables(root)
	// Without a title here, each page has its command's.
	header := &doc.GenManHeader{Section: "1", Source: "kproxy", Manual: "kproxy manual", Date: &date}
	if err := doc.GenManTree(root, header, folder); err != nil {
		return fmt.Errorf("writing the manual: %w", err)
	}
	return nil
}

// keepTables has the manual keep the lines of what is indented in descriptions, which Markdown takes
// for paragraphs if it is indented by less than four.
func keepTables(c *cobra.Command) {
	lines := strings.Split(c.Long, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "  ") {
			lines[i] = "    " + line
		}
	}
	c.Long = strings.Join(lines, "\n")
	for _, below := range c.Commands() {
		keepTables(below)
	}
}

// writeCompletions writes what the shells' own folders for completions take.
func writeCompletions(root *cobra.Command, folder string) error {
	for name, write := range map[string]func(string) error{
		"kproxy.bash": func(path string) error { return root.GenBashCompletionFileV2(path, true) },
		"_kproxy":     root.GenZshCompletionFile,
		"kproxy.fish": func(path string) error { return root.GenFishCompletionFile(path, true) },
	} {
		if err := write(filepath.Join(folder, name)); err != nil {
			return fmt.Errorf("writing completions: %w", err)
		}
	}
	return nil
}
