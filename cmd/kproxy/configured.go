package main

import (
	"context"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/visible"
)

const configEnv = "KPROXY_CONFIG"

// configFlag adds --config to a command and returns where its value will stand.
func configFlag(c *cobra.Command) *string {
	path := os.Getenv(configEnv)
	if path == "" {
		path = defaultConfig(configHere, configOfSystem)
	}
	c.Flags().StringVarP(&path, "config", "c", path, "configuration `FILE` (environment: "+configEnv+"; without both, kproxy.yaml in the working folder, else "+configOfSystem+"); config.example.yaml explains every setting")
	c.Flags().Lookup("config").DefValue = "" // help and manual are the same on all machines
	return &path
}

// The configurations that are taken where none is named, in this order.
const (
	configHere     = "kproxy.yaml"
	configOfSystem = "/etc/kproxy/kproxy.yaml" // where packages have it
)

// defaultConfig is the first of two files that is there, and the first one where none is. One that
// may not be read is there, too: its error says so.
func defaultConfig(here, ofSystem string) string {
	for _, path := range []string{here, ofSystem} {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return path
		}
	}
	return here
}

// timeoutFlag adds --timeout to a command and returns what bounds a context by it.
func timeoutFlag(c *cobra.Command, byDefault time.Duration, what string) func(context.Context) (context.Context, context.CancelFunc, error) {
	if byDefault == 0 {
		what += " (default: as long as it takes)"
	}
	timeout := c.Flags().Duration("timeout", byDefault, what)
	return func(ctx context.Context) (context.Context, context.CancelFunc, error) {
		switch {
		case *timeout < 0, *timeout == 0 && c.Flags().Changed("timeout"):
			return nil, nil, usageError{errors.New("--timeout takes a positive duration")}
		case *timeout == 0:
			ctx, cancel := context.WithCancel(ctx)
			return ctx, cancel, nil
		}
		ctx, cancel := context.WithTimeout(ctx, *timeout)
		c.SetContext(ctx) // which tells afterwards that this is what has ended the command
		return ctx, cancel, nil
	}
}

// boundedConfig adds --config and --timeout to a command. It returns what runs the command's
// work with that configuration and in that time.
func boundedConfig(c *cobra.Command, byDefault time.Duration, what string) func(work func(context.Context, *config.Config) error) error {
	path, limited := configFlag(c), timeoutFlag(c, byDefault, what)
	return func(work func(context.Context, *config.Config) error) error {
		ctx, cancel, err := limited(c.Context())
		if err != nil {
			return err
		}
		defer cancel()
		cfg, err := loadConfig(*path)
		if err != nil {
			return err
		}
		return work(ctx, cfg)
	}
}

// quietFlag adds --quiet to a command.
func quietFlag(c *cobra.Command, what string) *bool {
	return c.Flags().BoolP("quiet", "q", false, what)
}

// tableNames reads the names of tables on a command line.
func tableNames(arguments []string) []catalog.Name {
	var names []catalog.Name
	for _, name := range arguments {
		names = append(names, catalog.ParseName(name))
	}
	return names
}

func loadConfig(path string) (*config.Config, error) {
	c, err := config.Load(path)
	if err != nil {
		return nil, unusable(err)
	}
	return c, nil
}

// unusable says that a configuration has mistakes.
func unusable(err error) error {
	return failure{codeConfiguration, "correct the file; config.example.yaml explains every setting", fmt.Errorf("the configuration cannot be used:\n%w", err)}
}

// parseConfig reads a configuration without looking for what it names: passwords
// and certificates.
func parseConfig(path string) (*config.Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return loadConfig(path) // which says it in the words of all mistakes
	}
	c, err := config.Parse(path, text)
	if err != nil {
		return nil, unusable(err)
	}
	return c, nil
}

func newLogger(w io.Writer, l config.Log, level slog.Leveler) *slog.Logger {
	if l.Format == config.LogJSON {
		return slog.New(slog.NewJSONHandler(visible.Writer(w), &slog.HandlerOptions{Level: level, ReplaceAttr: forPrograms}))
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

// forPrograms gives a duration its unit, and writes names and addresses as people write them,
// which JSON would take apart.
func forPrograms(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Float64(a.Key+"_seconds", a.Value.Duration().Seconds())
	}
	switch v := a.Value.Any().(type) {
	case error, json.Marshaler, encoding.TextMarshaler:
		return a
	case fmt.Stringer:
		return slog.String(a.Key, v.String())
	default:
		return a
	}
}
