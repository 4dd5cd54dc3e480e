package config

import (
	"net"
	"net/netip"
	"time"

	"go.yaml.in/yaml/v3"
)

// Console is the operator's web console.
type Console struct {
	// Listen is host:port, where port 0 takes a free one; empty is no console.
	Listen string `yaml:"listen" what:"console listen" as:"address" default:"127.0.0.1:6480" doc:"Where the console is, as host:port. Beyond 127.0.0.1 it wants a certificate."`
	// Users are the operators who may log in: at least one.
	Users   []ConsoleUser `yaml:"users" what:"console users" each:"a user of the console" need:"users: with - name: admin, and verifier: under it as {kproxy password} prints it" fix:"- name: admin, and verifier: under it as {kproxy password} prints it" empty:"nobody can log in" doc:"Who may log in to the console. They see figures that readers must not."`
	Actions Permission    `yaml:"actions" what:"console actions" choices:"refuse allow" default:"refuse" doc:"Whether the console can reload, resynchronize, rebuild, reanonymize and set the log level."`
	// Profiling says whether the console serves the runtime's profiles, which hold parts of
	// the process's memory.
	Profiling   Permission `yaml:"profiling" what:"console profiling" choices:"refuse allow" default:"refuse" doc:"Whether the console serves profiles of the runtime at /debug/pprof/: they hold parts of the process's memory."`
	Plain       Permission `yaml:"plain" what:"console plain" choices:"refuse allow" default:"refuse" doc:"Whether it may be reached without TLS from other machines, where something else encrypts."`
	Certificate `yaml:"tls" what:"console tls" doc:"The console's certificate. With one it takes encrypted connections only."`
}

// ConsoleUser is an operator who may log in to the console.
type ConsoleUser struct {
	Name string `yaml:"name" what:"a user's name" as:"name" need:"name: and the name to log in with" doc:"The name to log in with."`
	// Verifier is a SCRAM-SHA-256 verifier in the form of pg_authid.rolpassword.
	Verifier Secret   `yaml:"verifier" as:"verifier" need:"verifier: as {kproxy password} prints it" doc:"The password's SCRAM-SHA-256 verifier, as {kproxy password} prints it."`
	_        struct{} `yaml:"password" refused:"a user's password must not stand in the file" fix:"write verifier: as {kproxy password} prints it"`
}

// Certificate is a certificate with its key.
type Certificate struct {
	// CertFile and KeyFile are PEM files; both are set or none.
	CertFile string `yaml:"cert_file" as:"path" need:"cert_file: with the path of a PEM file" doc:"The certificate and its chain, in PEM."`
	KeyFile  string `yaml:"key_file" as:"path" need:"key_file: with the path of a PEM file" doc:"The certificate's key, in PEM, without a passphrase."`
}

func (c *Certificate) check(d *decoder, _ *yaml.Node, _ string) {
	if cert, key := d.at(&c.CertFile), d.at(&c.KeyFile); cert != nil && key != nil {
		d.keyPair(cert, c.CertFile, key, c.KeyFile)
	}
}

// Permission says whether something may be done.
type Permission string

// The choices.
const (
	Refuse Permission = "refuse"
	Allow  Permission = "allow"
)

// Verify is how the process that applies proves its releases by itself.
type Verify struct {
	// Every is how often; 0 is never. A proof reads every release and the private store as a
	// whole, which is a load that the operator chooses.
	Every time.Duration `yaml:"every" default:"0s" range:"0s..24d" doc:"How often, by the age of the last proof; 0s is never. A proof reads every release and the private store as a whole, and rests ten times as long as it took at least."`
}

func (c *Console) check(d *decoder, _ *yaml.Node, _ string) {
	seen := make(map[string]bool)
	for i, u := range c.Users {
		if u.Name != "" && seen[u.Name] {
			d.wrong(d.at(&c.Users[i]), "user "+quote(u.Name)+" of the console stands twice", "remove one of them")
		}
		seen[u.Name] = true
	}
	if at := d.at(&c.Listen); at != nil && !d.flawed[c] && c.CertFile == "" && c.Plain != Allow && !isLoopback(c.Listen) {
		d.wrong(at, "the console would be reached from other machines without TLS, passwords and all",
			"write tls: with cert_file: and key_file:, listen on 127.0.0.1, or write plain: allow where something else encrypts")
	}
}

// isLoopback says whether an address is one that only the machine itself reaches.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
