// Package certificates reads the certificates that a configuration names, and says until when they
// are valid, and which clients cannot use them.
package certificates

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/state"
)

// Uses of certificates.
const (
	Server          = "server"             // that clients see
	ServerChain     = "server_chain"       // sent with it
	ClientAuthority = "client_authority"   // that signs clients' certificates
	Upstream        = "database_authority" // that signs the database servers' certificates
	Role            = "role"               // by which a role shows the database server who it is
	Console         = "console"            // of the console
	ConsoleChain    = "console_chain"      // sent with it
)

// mostAuthorities is how many authorities a file names one by one. A longer one is a list of public
// authorities, some of which always end soon; the last end stands for all of them.
const mostAuthorities = 10

// file is a file of certificates.
type file struct{ path, first, rest string } // the use of the first one, and of the others

// files are those that a configuration names.
func files(c *config.Config) []file {
	var all []file
	if c.TLS.Mode != config.TLSOff {
		all = append(all, file{c.TLS.CertFile, Server, ServerChain}, file{c.TLS.ClientCAFile, ClientAuthority, ClientAuthority})
	}
	connections := []config.Connection{c.AtSource(), c.Upstream.Owner, c.Upstream.Reader, c.AuthQuery.Connection}
	for _, r := range c.Upstream.Readers {
		connections = append(connections, r.Connection)
	}
	for _, connection := range connections {
		if root := connection.SSLRootCert; root != "system" {
			all = append(all, file{root, Upstream, Upstream})
		}
		all = append(all, file{connection.SSLCert, Role, Role})
	}
	if c.Console.Listen != "" {
		all = append(all, file{c.Console.CertFile, Console, ConsoleChain})
	}
	seen := make(map[file]bool, len(all))
	return slices.DeleteFunc(all, func(f file) bool {
		again := f.path == "" || seen[f]
		seen[f] = true
		return again
	})
}

// Read reads all certificates that a configuration names, the first to end first. Where files
// cannot be read, it returns those of the others and an error.
func Read(c *config.Config) ([]state.Certificate, error) {
	var all []state.Certificate
	var failed []error
	for _, f := range files(c) {
		found, err := f.read()
		if err != nil {
			failed = append(failed, err)
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b state.Certificate) int { return a.Until.Compare(b.Until) })
	return all, errors.Join(failed...)
}

func (f file) read() ([]state.Certificate, error) {
	parsed, failed := parse(f.path)
	authorities := f.first == ClientAuthority || f.first == Upstream
	if authorities && len(parsed) > mostAuthorities {
		parsed = []*x509.Certificate{slices.MaxFunc(parsed, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })}
	}
	var all []state.Certificate
	for i, p := range parsed {
		use := f.rest
		if i == 0 {
			use = f.first
		}
		all = append(all, state.Certificate{
			Use: use, Subject: cmp.Or(p.Subject.String(), "number "+p.SerialNumber.String()), File: f.path, From: p.NotBefore, Until: p.NotAfter,
		})
	}
	if authorities {
		all = renewed(all)
	}
	return all, failed
}

// renewed leaves out authorities beside which there is a later certificate of the same name: while
// one is replaced by the other, both are there.
func renewed(all []state.Certificate) []state.Certificate {
	return slices.DeleteFunc(slices.Clone(all), func(c state.Certificate) bool {
		return slices.ContainsFunc(all, func(other state.Certificate) bool { return other.Subject == c.Subject && other.Until.After(c.Until) })
	})
}

// parse reads the certificates of a PEM file. Where some of them cannot be read, which TLS passes over in a file of
// authorities, it returns the others and an error.
func parse(path string) ([]*x509.Certificate, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading certificates: %w", err)
	}
	var all []*x509.Certificate
	var failed []error
	number := 0
	for block, rest := pem.Decode(bytes.TrimSpace(text)); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		number++
		parsed, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			failed = append(failed, fmt.Errorf("reading certificates: number %d in %s: %w", number, path, err))
			continue
		}
		all = append(all, parsed)
	}
	return all, errors.Join(failed...)
}

// Table lists certificates for people.
func Table(all []state.Certificate) string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CERTIFICATE\tVALID UNTIL\tSUBJECT\tFILE")
	for _, c := range all {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", strings.ReplaceAll(c.Use, "_", " "), c.Until.UTC().Format(date), c.Subject, c.File)
	}
	_ = table.Flush() // a Builder takes everything
	return text.String()
}

// date is how moments are written.
const date = "2006-01-02 15:04 MST"

// names are the uses in words.
var names = map[string]string{
	Server: "the server's certificate", ServerChain: "a certificate of the server's chain",
	ClientAuthority: "an authority of clients' certificates", Upstream: "an authority of the database servers' certificates",
	Role: "the certificate of a role of kproxy", Console: "the console's certificate", ConsoleChain: "a certificate of the console's chain",
}

// effects say who fails once a certificate is no longer valid.
var effects = map[string]string{
	Server: "clients that verify it cannot connect", ServerChain: "clients that verify it cannot connect",
	ClientAuthority: "clients with its certificates cannot log in", Upstream: "kproxy cannot connect to the database where it verifies the server",
	Role: "kproxy cannot log in to the database by it", Console: "browsers warn of the console", ConsoleChain: "browsers warn of the console",
}

// Problem says what is wrong with the time of a certificate, and what to do. It is empty where
// nothing is.
func Problem(c state.Certificate, now time.Time) (what, fix string) {
	about := fmt.Sprintf("%s, %s in %s, ", names[c.Use], c.Subject, c.File)
	fix = "replace it, and run 'kproxy reload'"
	switch {
	case now.After(c.Until):
		return about + "has expired at " + c.Until.UTC().Format(date) + ": " + effects[c.Use], fix
	case now.Before(c.From):
		return about + "is not valid before " + c.From.UTC().Format(date) + ": " + effects[c.Use], "wait until then, or set the clock of this machine"
	case now.After(c.Warns()):
		return about + "expires at " + c.Until.UTC().Format(date) + "; then " + effects[c.Use], fix
	default:
		return "", ""
	}
}
