package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/cmd/kproxy/settings"
	"github.com/kproxy/kproxy/internal/config"
)

const (
	tick  = "`"
	fence = "```"
)

// generated heads the pages of docs that are made of code.
const generated = "<!-- environment: none -->\n<!-- Made by: go test ./cmd/kproxy -run Reference -update. Edit the code that it is made of. -->\n\n"

// commandsPage is the reference of the commands, as Markdown.
func commandsPage() (string, error) {
	root := newRoot()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var b strings.Builder
	b.WriteString(generated + "# Commands\n\n" + endings())
	err := writeCommand(&b, root)
	return strings.TrimSpace(b.String()) + "\n", err
}

func writeCommand(b *strings.Builder, c *cobra.Command) error {
	if c.Hidden || c.Name() == "help" {
		return nil
	}
	var help bytes.Buffer
	c.SetOut(&help)
	c.InitDefaultHelpFlag()
	if err := c.Help(); err != nil {
		return fmt.Errorf("asking for the help of %s: %w", c.CommandPath(), err)
	}
	var lines []string
	for line := range strings.Lines(help.String()) {
		lines = append(lines, strings.TrimRight(line, " \t\n"))
	}
	fmt.Fprintf(b, "## %s\n\n%s.\n\n%stext\n%s\n%s\n\n", c.CommandPath(), c.Short, fence, strings.TrimSpace(strings.Join(lines, "\n")), fence)
	for _, below := range c.Commands() {
		if err := writeCommand(b, below); err != nil {
			return err
		}
	}
	return nil
}

// endings says how commands end, and what they say then with --json.
func endings() string {
	var codes strings.Builder
	for _, c := range errorCodes {
		fmt.Fprintf(&codes, "| %s | %s | %d |\n", tick+c.code+tick, c.means, problem{Code: c.code}.exitCode())
	}
	return strings.ReplaceAll(`Commands that need a configuration take '-c FILE', those that print something '--json', and those that
can take long '--timeout LONG'. Results go to standard output, errors and progress to standard error.

| Exit code | Means |
| --- | --- |
| 0 | done, or all is well |
| 1 | what was asked for could not be done, or did not hold |
| 2 | the command line is wrong |
| 3 | it was shown, and something needs the operator (of 'kproxy status') |

With '--json' an error is '{"error": {"code": ..., "message": ..., "hint": ...}}'. The codes do not change
between versions:

| Code | Means | Exit code |
| --- | --- | --- |
`, "'", tick) + codes.String() + "\n" + tick + "kproxy completion" + tick + strings.ReplaceAll(` makes completions for bash, zsh, fish and PowerShell, which propose commands and flags,
protected tables and users from the configuration, and methods. For bash, in every new shell:

'''text
echo 'source <(kproxy completion bash)' >> ~/.bashrc
'''

`, "'''", fence)
}

// configurationPage is the reference of the configuration, as Markdown.
func configurationPage() string {
	var b strings.Builder
	b.WriteString(generated + strings.ReplaceAll(`# Configuration

[config.example.yaml](../config.example.yaml) is a complete configuration that explains itself. This is
the list of all keys, made of the code that reads them; 'kproxy schema' prints the same for editors.

A path is the keys that lead to a value: '*' stands for a name of your own, '[]' for the entries of a list.
Names and labels are taken as they are written: no, null and 02139 are texts. Durations are numbers with
their unit (500ms, 30s, 10m, 1h30m, 7d), sizes whole numbers with theirs (B, kB, MB, GB, TB, each 1024 of the one
before). What is not understood is refused, with the line and the fix.

The last column says when 'kproxy reload' lets a change take effect: at once, which for some is for sessions
that begin afterwards, or at the next start.
`, "'", tick))
	section := ""
	config.Describe().Paths(func(path string, k config.Key) {
		top, _, below := strings.Cut(path, ".")
		top = strings.TrimSuffix(top, "[]")
		if top != section {
			section = top
			fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| Key | Value | Default | What it is for | Takes effect |\n| --- | --- | --- | --- | --- |\n", top, k.Doc)
		}
		doc := k.Doc
		if !below {
			doc = ""
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", tick+path+tick, cell(k.Shape.Words()), cell(byDefault(k)), cell(doc), settings.TakenAt(path))
	})
	return b.String()
}

// cell is a text inside a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "*", `\*`).Replace(text)
}

func byDefault(k config.Key) string {
	if k.Required {
		return "required"
	}
	return k.Shape.Default
}
