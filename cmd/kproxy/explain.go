package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/cmd/kproxy/explain"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/rewrite"
)

// explainPatience is how long the database may take to say what it has.
const explainPatience = time.Minute

func newExplain() *cobra.Command {
	var o explain.Options
	c := &cobra.Command{
		Use:   "explain ['SQL' ...]",
		Short: "Show how a statement is rewritten, or why it is refused",
		Long: `Explain passes statements to the rewriter that 'kproxy serve' uses under the configuration,
one after the other as in one session, and shows for each

  sent      the statement that the server receives instead
  reads     the relations that it reads, and the lines of the configuration that name them
  answered  that it is answered from the summary of classes, where it is (docs/speed.md)
  session   what it changes in the session
  cached    whether it is parsed again when it is repeated
  plan      with --plan, how the server would run it as the reader role
  refused   SQLSTATE, message and hint as the client receives them, with the position marked,
            and the reason, for you

Explain connects as the owner to read the catalogs, and as the reader role to let the server
parse what is sent. It runs nothing but EXPLAIN, without ANALYZE. With --offline, it connects
to nothing and knows only the names in the configuration, so columns are not checked. It
reads SQL from the arguments, a --file, or standard input; separate several statements by
semicolons.

Exit codes: 0 all statements may run; 1 one is refused, or the database could not be
queried; 2 wrong command line.`,
		Example: `  kproxy explain 'SELECT name FROM patients'
  kproxy explain --plan --file report.sql
  echo 'SELECT count(*) FROM patients' | kproxy explain --offline --json`,
	}
	path := configFlag(c)
	asJSON := jsonFlag(c)
	limited := timeoutFlag(c, explainPatience, "ask for at most `LONG`")
	flags := c.Flags()
	file := flags.String("file", "", "read the SQL from this `FILE`; - is standard input")
	flags.BoolVar(&o.Plan, "plan", false, "show the server's plan")
	flags.BoolVar(&o.Offline, "offline", false, "use the configuration alone, without a database")
	flags.StringVar(&o.User, "user", "", "`NAME` of the user who sends it (default: the configuration's first)")
	flags.StringVar(&o.SearchPath, "search-path", "", "the session's search_path, as in `SCHEMA,...`")
	c.RunE = func(c *cobra.Command, arguments []string) error {
		if o.Plan && o.Offline {
			return usageError{errors.New("--plan needs the server, which --offline does not use")}
		}
		statements, err := statementsOf(c.InOrStdin(), arguments, *file)
		if err != nil {
			return err
		}
		ctx, cancel, err := limited(c.Context())
		if err != nil {
			return err
		}
		defer cancel()
		all, err := runExplain(ctx, *path, statements, o)
		if err != nil {
			return err
		}
		if *asJSON {
			err = writeJSON(c.OutOrStdout(), map[string]any{"statements": all})
		} else {
			err = writeExplained(forReading(c), all)
		}
		if err != nil {
			return err
		}
		return refusedOf(all)
	}
	return c
}

// statementsOf are the statements that a command was given, one at least.
func statementsOf(in io.Reader, arguments []string, file string) ([]string, error) {
	text, err := sqlText(in, arguments, file, isTerminal())
	if err != nil {
		return nil, err
	}
	statements := rewrite.Split(text)
	if len(statements) == 0 {
		return nil, usageError{errors.New("there is no statement to explain")}
	}
	return statements, nil
}

// runExplain puts statements through the gate under the configuration of a file.
func runExplain(ctx context.Context, path string, statements []string, o explain.Options) ([]explain.Result, error) {
	load := loadConfig
	if o.Offline {
		load = parseConfig
	}
	cfg, err := load(path)
	if err != nil {
		return nil, err
	}
	if o.User == "" {
		o.User = firstUser(cfg)
	} else if !knownUser(cfg, o.User) {
		return nil, failure{codeMissing, "'kproxy user list' shows the users", fmt.Errorf("there is no user %q in %s", o.User, path)}
	}
	return explain.Run(ctx, cfg, statements, o)
}

func firstUser(cfg *config.Config) string {
	if len(cfg.Users) > 0 {
		return cfg.Users[0].Name
	}
	return ""
}

// knownUser tells whether a user may exist: those that auth_query finds are known to the database.
func knownUser(cfg *config.Config, name string) bool {
	return cfg.AuthQuery.Query != "" || slices.ContainsFunc(cfg.Users, func(u config.User) bool { return u.Name == name })
}

// sqlText is the SQL that a command was given, in whichever way.
func sqlText(in io.Reader, arguments []string, file string, terminal bool) (string, error) {
	switch {
	case file != "" && len(arguments) > 0:
		return "", usageError{errors.New("give SQL as arguments or with --file, not both")}
	case file != "" && file != "-":
		text, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("reading the SQL: %w", err)
		}
		return string(text), nil
	case len(arguments) > 0:
		return strings.Join(arguments, ";\n"), nil
	case file == "" && terminal:
		return "", usageError{errors.New("give SQL as an argument, with --file, or on standard input")}
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return "", fmt.Errorf("reading the SQL: %w", err)
	}
	return string(text), nil
}

// refusedOf is an error where a statement is refused.
func refusedOf(all []explain.Result) error {
	refused := 0
	for _, one := range all {
		if !one.Allowed {
			refused++
		}
	}
	switch {
	case refused == 0:
		return nil
	case len(all) == 1:
		return failure{codeRefused, "see why", errors.New("the statement is refused")}
	}
	return failure{codeRefused, "see why of each", fmt.Errorf("%d of %d statements are refused", refused, len(all))}
}

func writeExplained(w io.Writer, all []explain.Result) error {
	var b strings.Builder
	for i, one := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		if len(all) > 1 {
			fmt.Fprintf(&b, "statement %d: %s\n", i+1, firstLine(one.Statement))
		}
		if one.Refusal != nil {
			writeRefusal(&b, one)
		}
		part := func(name string, lines ...string) {
			for j, line := range lines {
				if j > 0 {
					name = ""
				}
				fmt.Fprintf(&b, "%s\n", strings.TrimRight(fmt.Sprintf("%-9s%s", name, line), " "))
			}
		}
		if one.Sent != "" {
			part("sent", strings.Split(one.Sent, "\n")...)
		}
		for j, r := range one.Reads {
			text := r.Relation + " (" + r.As
			if r.As == "mirrored" {
				text += ": rows as they are at the source"
			}
			if r.Place != "" {
				text += ", " + r.Place
			}
			name := "reads"
			if j > 0 {
				name = ""
			}
			part(name, text+")")
		}
		if one.FromClasses {
			part("answered", "from the summary of classes, not from records")
		}
		part("session", one.Effects...)
		if one.Refusal == nil {
			cached := "no"
			if one.Cached {
				cached = "yes"
			}
			part("cached", cached)
		}
		part("plan", one.Plan...)
		if one.NoPlan != "" {
			part("plan", "none: "+one.NoPlan)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func firstLine(text string) string {
	line, _, more := strings.Cut(text, "\n")
	if more {
		line += " ..."
	}
	return line
}

// writeRefusal shows a refusal as psql does, and why.
func writeRefusal(b *strings.Builder, one explain.Result) {
	r := one.Refusal
	by := "kproxy"
	if r.By != "kproxy" {
		by = "the server"
	}
	fmt.Fprintf(b, "refused by %s: %s: %s\n", by, r.SQLState, r.Message)
	if r.Position > 0 {
		line, caret := marked(one.Statement, r.Position)
		fmt.Fprintf(b, "  %s\n  %s\n", line, caret)
	}
	if r.Hint != "" {
		fmt.Fprintf(b, "hint     %s\n", r.Hint)
	}
	fmt.Fprintf(b, "why      %s\n", r.Why)
}

// marked is the line of a text on which a position is, counted in characters from 1, and
// a line that marks it.
func marked(text string, position int) (line, caret string) {
	runes := []rune(text)
	at := min(position-1, len(runes))
	from, to := at, at
	for from > 0 && runes[from-1] != '\n' {
		from--
	}
	for to < len(runes) && runes[to] != '\n' {
		to++
	}
	var blank strings.Builder
	for _, c := range runes[from:at] {
		if c != '\t' {
			c = ' '
		}
		blank.WriteRune(c)
	}
	return strings.TrimRight(string(runes[from:to]), "\r"), blank.String() + "^"
}
