// Command sbom writes the bill of materials of a Go program as CycloneDX 1.6 in JSON:
// the modules that are linked into it, with their versions and the sums of go.sum, as the
// program itself says; Go's standard library; and what was linked from elsewhere, which the
// caller names. Each has its licenses, whose texts it writes into a file to be passed on with the
// program. It depends on nothing but the program's bytes, its arguments and the source code of
// what is named.
//
//	sbom -time SECONDS [-licenses FILE] [-also 'PURL SOURCE LICENSE...']... PROGRAM >FILE
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// run writes the bill of the program that the arguments name.
func run(arguments []string, out io.Writer) error {
	flags := flag.NewFlagSet("sbom", flag.ContinueOnError)
	seconds := flags.Int64("time", 0, "when the program was made, in `SECONDS` since 1970")
	texts := flags.String("licenses", "", "write the texts of licenses into this `FILE`")
	var also []part
	flags.Func("also", "package `URL` of what is linked besides Go modules, the address of its source code, and files with its licenses; may be repeated", func(text string) error {
		p, err := linkedBesides(text)
		also = append(also, p)
		return err
	})
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("name one program")
	}
	program, err := os.ReadFile(flags.Arg(0))
	if err != nil {
		return fmt.Errorf("reading the program: %w", err)
	}
	bill, parts, err := newBill(program, time.Unix(*seconds, 0), also)
	if err != nil {
		return err
	}
	if *texts != "" {
		var text bytes.Buffer
		if err := writeLicenses(&text, parts); err != nil {
			return err
		}
		if err := os.WriteFile(*texts, text.Bytes(), 0o644); err != nil {
			return fmt.Errorf("writing the licenses: %w", err)
		}
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(bill); err != nil {
		return fmt.Errorf("writing the bill: %w", err)
	}
	return nil
}

// newBill describes a program. Its serial number is made from the program's bytes, so that
// the same program has the same bill.
func newBill(program []byte, made time.Time, also []part) (*bill, []part, error) {
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return nil, nil, fmt.Errorf("reading what the program is made of: %w", err)
	}
	sum := sha256.Sum256(program)
	whole := module("application", info.Main.Path, info.Main.Version)
	whole.Hashes = []hash{{Algorithm: "SHA-256", Content: fmt.Sprintf("%x", sum)}}
	whole.Licenses = []choice{{license{"Apache-2.0"}}}
	modules := []component{module("library", "std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, dependency := range info.Deps {
		if dependency.Replace != nil {
			dependency = dependency.Replace
		}
		part := module("library", dependency.Path, dependency.Version)
		part.Properties = []property{{Name: "go:sum", Value: dependency.Sum}}
		modules = append(modules, part)
	}
	parts, err := licensed(modules)
	if err != nil {
		return nil, nil, err
	}
	parts = append(parts, also...)
	components := make([]component, len(parts))
	for i, p := range parts {
		components[i] = p.component
		for _, id := range p.ids {
			components[i].Licenses = append(components[i].Licenses, choice{license{id}})
		}
	}
	return &bill{
		Format: "CycloneDX", SpecVersion: "1.6", Version: 1, Serial: serial(sum),
		Metadata:     metadata{Timestamp: made.UTC().Format(time.RFC3339), Component: whole},
		Components:   components,
		Dependencies: dependencies(whole, components),
	}, parts, nil
}

// serial makes a UUID of version 8 (RFC 9562: of one's own making) from a program's sum.
func serial(sum [sha256.Size]byte) string {
	id := sum[:16]
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// module is a Go module as a component.
func module(kind, path, version string) component {
	purl := "pkg:golang/" + path
	if version != "" {
		purl += "@" + strings.ReplaceAll(version, "+", "%2B")
	}
	return component{Type: kind, Reference: purl, Name: path, Version: version, PURL: purl}
}

// named is a component of which the package URL is known: pkg:TYPE/NAME@VERSION.
func named(purl string) (component, error) {
	path, version, found := strings.Cut(purl, "@")
	name := path[strings.LastIndex(path, "/")+1:]
	if !strings.HasPrefix(purl, "pkg:") || !found || name == "" || version == "" {
		return component{}, fmt.Errorf("%q is not like pkg:TYPE/NAME@VERSION", purl)
	}
	return component{Type: "library", Reference: purl, Name: name, Version: version, PURL: purl}, nil
}

// dependencies says that the program has all parts. A program does not tell which part
// needs which.
func dependencies(whole component, parts []component) []dependency {
	all := dependency{Reference: whole.Reference}
	for _, part := range parts {
		all.On = append(all.On, part.Reference)
	}
	return []dependency{all}
}
