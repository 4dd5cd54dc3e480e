package main

import (
	"errors"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/internal/config"
)

func newConsole() *cobra.Command {
	c := &cobra.Command{
		Use:   "console",
		Short: "Show the address of the web console, and who may log in",
		Long: `Console prints the address at which 'kproxy serve' shows its web console, and the console's
users, according to the configuration. It connects to nothing.

The section console: of the configuration describes the console. Its users are separate from
those of the database; 'kproxy password' makes their verifiers. See docs/console.md.`,
		Example: `  kproxy console -c kproxy.yaml`,
		Args:    noArguments,
	}
	path := configFlag(c)
	asJSON := c.Flags().Bool("json", false, "write JSON")
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := parseConfig(*path)
		if err != nil {
			return err
		}
		told, err := whereConsole(cfg.Console)
		if err != nil {
			return err
		}
		if *asJSON {
			return writeJSON(c.OutOrStdout(), told)
		}
		fmt.Fprintln(c.OutOrStdout(), told.URL)
		for _, name := range told.Users {
			fmt.Fprintf(c.OutOrStdout(), "user %s\n", name)
		}
		if !told.Actions {
			fmt.Fprintln(c.OutOrStdout(), "It shows and changes nothing (console: actions: refuse).")
		}
		return nil
	}
	return c
}

// consolePlace is where the console is.
type consolePlace struct {
	URL     string   `json:"url"`
	Users   []string `json:"users"`
	Actions bool     `json:"actions"`
}

func whereConsole(c config.Console) (consolePlace, error) {
	if c.Listen == "" {
		return consolePlace{}, failure{codeMissing, "write console: with users:, as config.example.yaml shows", errors.New("the configuration has no console: write console: with users:, as config.example.yaml shows")}
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return consolePlace{}, fmt.Errorf("the console's address: %w", err)
	}
	if host == "" || net.ParseIP(host).IsUnspecified() {
		host = "localhost" // from this machine
	}
	scheme := "http"
	if c.CertFile != "" {
		scheme = "https"
	}
	place := consolePlace{URL: scheme + "://" + net.JoinHostPort(host, port) + "/", Actions: c.Actions == config.Allow}
	for _, u := range c.Users {
		place.Users = append(place.Users, u.Name)
	}
	return place, nil
}
