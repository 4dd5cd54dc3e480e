// Package build says how the running program was built.
package build

import (
	"runtime"
	"runtime/debug"

	"github.com/kproxy/kproxy/rewrite"
)

// Info is what a program says of itself.
type Info struct {
	// Version is that of the module system; "unknown" where the build did not note it.
	Version string `json:"version"`
	// Commit is the revision it was built from, with -dirty where files were changed;
	// empty where the build did not note it.
	Commit string `json:"commit"`
	Go     string `json:"go"`
	// Grammar is the version of PostgreSQL whose grammar statements are read by.
	Grammar  string `json:"postgresql_grammar"`
	Platform string `json:"platform"`
}

// This is that of the running program.
func This() Info {
	b := Info{Version: "unknown", Go: runtime.Version(), Grammar: rewrite.Grammar(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
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
