package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/visible"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1 // what was asked for could not be done, or did not hold
	exitUsage   = 2 // the command line is wrong
	exitNeeded  = 3 // what was asked for was shown, and needs the operator
)

// The codes of errors, for scripts; they do not change between versions.
const (
	codeUsage         = "usage"
	codeConfiguration = "configuration"
	codeConnection    = "connection"
	codeCheck         = "check"
	codeUnproven      = "unproven"
	codeRefused       = "refused"
	codeTimeout       = "timeout"
	codeExists        = "exists"
	codeMissing       = "missing"
	codeNeeded        = "needed"
	codeInterrupted   = "interrupted"
	codeFailed        = "failed"
)

// errorCodes say what each code means.
var errorCodes = []struct{ code, means string }{
	{codeUsage, "the command line is wrong"},
	{codeConfiguration, "the configuration file cannot be used; `mistakes` lists all of them, with their lines"},
	{codeConnection, "the database could not be reached"},
	{codeCheck, "the database is not fit to be published"},
	{codeUnproven, "a published table does not meet its constraints"},
	{codeRefused, "a running kproxy, the operator or the rewriter refused the request"},
	{codeTimeout, "`--timeout` expired before the outcome was known"},
	{codeExists, "what was to be added exists already"},
	{codeMissing, "what was named, or is required, does not exist"},
	{codeNeeded, "something needs attention; it was shown"},
	{codeInterrupted, "a signal was received"},
	{codeFailed, "anything else"},
}

// failure is an error with what a script can go by and what the operator can do.
type failure struct {
	code, hint string
	err        error
}

func (f failure) Error() string { return f.err.Error() }
func (f failure) Unwrap() error { return f.err }
func (f failure) Code() string  { return f.code }
func (f failure) Hint() string  { return f.hint }

// usageError marks mistakes on the command line.
type usageError struct{ error }

// errNeeded is the end of a command that has shown what needs the operator.
var errNeeded = errors.New("something needs the operator")

// problem is the one form in which errors are written with --json, as the value of the
// key "error".
type problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
	// Mistakes are those of a configuration file.
	Mistakes []mistake `json:"mistakes,omitempty"`
}

type mistake struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// problemOf says of an error what a script can go by. Command is the one that failed.
func problemOf(ctx context.Context, err error, command *cobra.Command) problem {
	p := problem{Code: codeFailed, Message: err.Error()}
	var coded interface {
		Code() string
		Hint() string
	}
	var written config.Errors
	switch usage := (usageError{}); {
	case errors.As(err, &usage):
		p.Code, p.Hint = codeUsage, fmt.Sprintf("run '%s --help' for what it takes", command.CommandPath())
	case errors.Is(err, errNeeded):
		p.Code, p.Hint = codeNeeded, "see what it has shown"
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		p.Code, p.Message = codeInterrupted, "interrupted"
	case errors.Is(err, context.DeadlineExceeded) && (expired(command) || !errors.As(err, &coded)):
		p.Code, p.Hint = codeTimeout, "give a longer --timeout"
	case errors.As(err, &coded):
		p.Code, p.Hint = coded.Code(), coded.Hint()
	case errors.Is(err, fs.ErrNotExist):
		p.Code = codeMissing
	case errors.Is(err, fs.ErrExist):
		p.Code = codeExists
	}
	if errors.As(err, &written) {
		p.Code = codeConfiguration
		for _, m := range written {
			p.Mistakes = append(p.Mistakes, mistake{File: m.File, Line: m.Line, Column: m.Column, Message: m.What, Hint: m.Fix})
		}
	}
	return p
}

// expired tells whether a command has used up its --timeout. Other time limits end parts of its work.
func expired(command *cobra.Command) bool {
	ctx := command.Context()
	return ctx != nil && errors.Is(ctx.Err(), context.DeadlineExceeded)
}

// exitCode is how the process ends by an error.
func (p problem) exitCode() int {
	switch p.Code {
	case codeUsage:
		return exitUsage
	case codeNeeded:
		return exitNeeded
	}
	return exitFailure
}

// write tells of an error on standard error: results alone go to standard output.
func (p problem) write(w io.Writer, asJSON bool) {
	w = visible.Writer(w)
	switch {
	case asJSON:
		_ = writeJSON(w, map[string]problem{"error": p}) // there is nobody else to tell
	case p.Code == codeUsage:
		fmt.Fprintf(w, "kproxy: %s\n%s.\n", p.Message, strings.ToUpper(p.Hint[:1])+p.Hint[1:])
	case p.Code != codeNeeded:
		fmt.Fprintf(w, "kproxy: %s\n", p.Message)
	}
}

// wantsJSON says whether errors are to be written as JSON, also those in the flags
// themselves, and those of commands that there are not.
func wantsJSON(command *cobra.Command, arguments []string) bool {
	if flag := command.Flags().Lookup("json"); flag != nil && flag.Value.String() == "true" {
		return true
	}
	if end := slices.Index(arguments, "--"); end >= 0 {
		arguments = arguments[:end]
	}
	return slices.Contains(arguments, "--json")
}

// forReading is the output of a command that shows names from the database.
func forReading(c *cobra.Command) io.Writer { return visible.Writer(c.OutOrStdout()) }

// jsonFlag adds --json to a command.
func jsonFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("json", false, "write JSON, errors included (those on standard error)")
}

// errorsAsJSON adds --json to a command whose results are not for scripts.
func errorsAsJSON(c *cobra.Command) {
	c.Flags().Bool("json", false, "write the error that ends it as JSON, on standard error")
}

// writeJSON writes a value, indented, with characters that turn the direction of text as escapes.
func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(visible.Writer(w))
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}
