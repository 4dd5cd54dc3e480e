package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/config"
)

const configEnv = "KPROXY_CONFIG"

// configFlag adds --config to a command and returns where its value will stand.
func configFlag(c *cobra.Command) *string {
	def := os.Getenv(configEnv)
	if def == "" {
		def = "kproxy.yaml"
	}
	return c.Flags().StringP("config", "c", def, "configuration `FILE` (environment: "+configEnv+"); config.example.yaml explains every setting")
}

func loadConfig(path string) (*config.Config, error) {
	c, err := config.Load(path)
	if err != nil {
		return nil, fmt.Errorf("the configuration cannot be used:\n%w", err)
	}
	return c, nil
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
		return nil, fmt.Errorf("the configuration cannot be used:\n%w", err)
	}
	return c, nil
}

func newLogger(l config.Log, level slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if l.Format == config.LogJSON {
		return slog.New(slog.NewJSONHandler(os.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, options))
}
