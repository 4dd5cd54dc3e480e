package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// part is what is linked into the program, with its licenses.
type part struct {
	component
	source string // where its source code is
	ids    []string
	files  []licenseFile
}

type licenseFile struct{ name, text string }

// terms tell licenses by their words. The identifiers are SPDX's.
var terms = []struct{ id, words string }{
	{"MPL-2.0", "Mozilla Public License, version 2.0"},
	{"Apache-2.0", "Apache License"},
	{"MIT", "Permission is hereby granted, free of charge"},
	{"PostgreSQL", "PostgreSQL Database Management System"},
	{"OFL-1.1", "SIL OPEN FONT LICENSE Version 1.1"},
	{"FTL", "The FreeType Project LICENSE"},
	{"CC-BY-4.0", "Creative Commons Attribution 4.0"},
	{"CC-BY-3.0", "Creative Commons Attribution 3.0"},
	{"LGPL-2.1-or-later", "GNU Lesser General Public License"},
}

// licensesIn are the identifiers of the licenses that a text has.
func licensesIn(text string) (ids []string) {
	text = strings.Join(strings.Fields(text), " ")
	for _, t := range terms {
		spokenOf := t.id == "LGPL-2.1-or-later" && slices.Contains(ids, "MPL-2.0") // the MPL allows to combine both
		if strings.Contains(text, t.words) && !spokenOf {
			ids = append(ids, t.id)
		}
	}
	if strings.Contains(text, "Redistribution and use in source and binary forms") {
		if strings.Contains(text, "endorse or promote") {
			return append(ids, "BSD-3-Clause")
		}
		return append(ids, "BSD-2-Clause")
	}
	return ids
}

// license adds a file to what is known of a part.
func (p *part) license(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading a license: %w", err)
	}
	if filepath.Ext(path) == ".c" { // its first comment is its license
		text, _, _ = bytes.Cut(text, []byte("*/"))
	}
	p.files = append(p.files, licenseFile{filepath.Base(path), strings.TrimSpace(string(text))})
	for _, id := range licensesIn(string(text)) {
		if !slices.Contains(p.ids, id) {
			p.ids = append(p.ids, id)
		}
	}
	return nil
}

// check refuses a part of which no license is known: nobody may pass it on.
func (p *part) check() error {
	if len(p.ids) == 0 {
		return fmt.Errorf("%s has no license that is known here", p.Name)
	}
	return nil
}

// licensed finds the licenses of modules, in the folders where Go keeps them, and of Go itself.
func licensed(modules []component) ([]part, error) {
	arguments := []string{"list", "-m", "-f", "{{.Dir}}"}
	for _, m := range modules[1:] {
		arguments = append(arguments, m.Name)
	}
	folders := []string{runtime.GOROOT()} //nolint:staticcheck // it is asked where `go run` runs
	if len(modules) > 1 {
		var failed *exec.ExitError
		out, err := exec.Command("go", arguments...).Output()
		switch {
		case errors.As(err, &failed):
			return nil, fmt.Errorf("asking for folders of modules: %w: %s", err, failed.Stderr)
		case err != nil:
			return nil, fmt.Errorf("asking for folders of modules: %w", err)
		}
		folders = append(folders, strings.Split(strings.TrimSpace(string(out)), "\n")...)
	}
	var parts []part
	for i, m := range modules {
		p := part{component: m, source: "https://proxy.golang.org/" + m.Name + "/@v/" + m.Version + ".zip"}
		if i == 0 {
			p.source = "https://go.dev/dl/"
		}
		if err := p.licenseFolder(folders[i]); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// isLicense matches the names of files that have to be passed on.
var isLicense = regexp.MustCompile(`(?i)^(license|copying|notice|patents)|^(ftl)\.txt$`)

func (p *part) licenseFolder(folder string) error {
	for _, in := range []string{folder, filepath.Join(folder, "licenses")} {
		entries, err := os.ReadDir(in)
		if err != nil && in == folder {
			return fmt.Errorf("looking for licenses of %s: %w", p.Name, err)
		}
		for _, entry := range entries {
			if entry.IsDir() || !isLicense.MatchString(entry.Name()) {
				continue
			}
			if err := p.license(filepath.Join(in, entry.Name())); err != nil {
				return err
			}
		}
	}
	return p.check()
}

// linkedBesides reads PURL SOURCE FILE..., of what is no Go module.
func linkedBesides(text string) (part, error) {
	words := strings.Fields(text)
	if len(words) < 3 {
		return part{}, fmt.Errorf("%q is not like PURL SOURCE FILE", text)
	}
	named, err := named(words[0])
	if err != nil {
		return part{}, err
	}
	p := part{component: named, source: words[1]}
	for _, path := range words[2:] {
		if err := p.license(path); err != nil {
			return part{}, err
		}
	}
	return p, p.check()
}

const preface = `kproxy is under the Apache License, Version 2.0. Its program also contains what follows, each under its own
license. The source code of each is at the address given, unchanged.

The program is linked statically. Who wants to link it with another version of a library, as the GNU Lesser General
Public License allows, finds its source code and the commands at https://github.com/kproxy/kproxy (make release).
`

// writeLicenses writes the texts for those to whom the program is passed on.
func writeLicenses(w io.Writer, parts []part) error {
	var b strings.Builder
	b.WriteString(preface)
	line := "\n" + strings.Repeat("=", 100) + "\n"
	for _, p := range parts {
		fmt.Fprintf(&b, "%s%s %s\nLicense: %s\nSource: %s\n", line, p.Name, p.Version, strings.Join(p.ids, ", "), p.source)
		for _, f := range p.files {
			fmt.Fprintf(&b, "\n--- %s ---\n\n%s\n", f.name, f.text)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
