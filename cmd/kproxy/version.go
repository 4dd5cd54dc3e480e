package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/rewrite"
)

// build is what a program says of itself.
type build struct {
	Version string `json:"version"`
	// Commit is the revision it was built from, with -dirty where files were changed;
	// empty where the build did not note it.
	Commit string `json:"commit"`
	Go     string `json:"go"`
	// Grammar is the version of PostgreSQL whose grammar statements are read by.
	Grammar  string `json:"postgresql_grammar"`
	Platform string `json:"platform"`
}

func newVersion() *cobra.Command {
	c := &cobra.Command{
		Use:   "version",
		Short: "Tell the version, what it was built from, and whose SQL grammar it has",
		Args:  noArguments,
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		b := thisBuild()
		if *asJSON {
			return writeJSON(c.OutOrStdout(), b)
		}
		commit := b.Commit
		if commit == "" {
			commit = "unknown"
		}
		_, err := fmt.Fprintf(c.OutOrStdout(), "kproxy %s\ncommit %s\n%s, %s\nSQL grammar of PostgreSQL %s\n", b.Version, commit, b.Go, b.Platform, b.Grammar)
		return err
	}
	return c
}

func thisBuild() build {
	b := build{Version: "(unknown)", Go: runtime.Version(), Grammar: rewrite.Grammar(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	dirty := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if dirty && b.Commit != "" {
		b.Commit += "-dirty"
	}
	return b
}
