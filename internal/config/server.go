package config

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net/netip"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9])?\.?$`)

func isHost(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil || hostName.MatchString(text)
}

func (r *reader) tls(to *TLS) func(*yaml.Node) {
	return func(n *yaml.Node) {
		var mode *TLSMode
		var cert, key *yaml.Node
		r.mapping(
			n, "tls",
			field{key: "mode", doc: "Clients are not encrypted (off), choose (allow), or must be encrypted (require). With a certificate the default is require, else off.", read: func(n *yaml.Node) {
				// An unknown mode still counts as one, so that it makes one problem, not two.
				m, _ := choose(r, n, "tls mode", TLSOff, TLSAllow, TLSRequire)
				mode = &m
			}},
			field{key: "cert_file", doc: "A PEM file: the certificate first, then its chain. Relative paths start at the configuration's folder. A reload reads it again.", read: func(n *yaml.Node) { cert = n; r.path(&to.CertFile, "cert_file")(n) }},
			field{key: "key_file", doc: "A PEM file with the certificate's key, without a passphrase.", read: func(n *yaml.Node) { key = n; r.path(&to.KeyFile, "key_file")(n) }},
			field{key: "client_ca_file", doc: "A PEM file with the authorities that sign clients' certificates, where a rule of access asks for one.", read: r.marked("tls.client_ca_file", r.clientCA(to))},
		)
		switch {
		case mode != nil:
			to.Mode = *mode
		case cert != nil || key != nil || to.ClientCAFile != "":
			to.Mode = TLSRequire
		}
		if to.Mode != TLSAllow && to.Mode != TLSRequire {
			return
		}
		const fix = "write cert_file: and key_file: with the paths of PEM files"
		switch {
		case cert == nil && key == nil:
			r.wrong(r.follow(n), "tls mode "+to.Mode.String()+" has no certificate", fix)
		case cert == nil:
			r.wrong(key, "tls has a key_file but no cert_file", fix)
		case key == nil:
			r.wrong(cert, "tls has a cert_file but no key_file", fix)
		default:
			r.keyPair(to, cert, key)
		}
	}
}

func (r *reader) keyPair(t *TLS, cert, key *yaml.Node) {
	certificate, certRead := r.contents(cert, "cert_file", t.CertFile)
	private, keyRead := r.contents(key, "key_file", t.KeyFile)
	if !certRead || !keyRead {
		return
	}
	t.files.add(certificate)
	t.files.add(private)
	if _, err := tls.X509KeyPair(certificate, private); err != nil {
		r.wrong(r.follow(key), "cert_file and key_file are no pair of a certificate and its key",
			"give PEM files: the certificate first, then its chain; the key without a passphrase")
	}
}

// clientCA reads the path of the authorities that sign clients' certificates.
func (r *reader) clientCA(to *TLS) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.path(&to.ClientCAFile, "client_ca_file")(n)
		if to.ClientCAFile == "" {
			return
		}
		text, ok := r.contents(n, "client_ca_file", to.ClientCAFile)
		if ok {
			to.files.add(text)
		}
		if ok && !x509.NewCertPool().AppendCertsFromPEM(text) {
			r.wrong(r.follow(n), "client_ca_file holds no certificate", "give a PEM file with the certificates of the authorities that sign clients' certificates")
		}
	}
}

// path reads a file's path; a relative one starts at the configuration's folder.
func (r *reader) path(to *string, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if text, ok := r.setting(n, what); ok {
			*to = r.beside(filepath.FromSlash(text))
		}
	}
}

func (r *reader) log(to *Log) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.mapping(
			n, "log",
			field{key: "level", doc: "What is logged at least.", read: func(n *yaml.Node) {
				r.byDefault(n, logLevel(to.Level).String())
				if level, ok := choose(r, n, "log level", logLevels...); ok {
					to.Level = slog.Level(level)
				}
			}},
			field{key: "format", doc: "The form of a line: text is key=value.", read: storeChoice(r, &to.Format, "log format", LogText, LogJSON)},
		)
	}
}

// logLevel is a level by its name in lower case.
type logLevel slog.Level

var logLevels = []logLevel{logLevel(slog.LevelDebug), logLevel(slog.LevelInfo), logLevel(slog.LevelWarn), logLevel(slog.LevelError)}

func (l logLevel) String() string { return strings.ToLower(slog.Level(l).String()) }

func (r *reader) temporaryTables(to *TemporaryTables) func(*yaml.Node) {
	return func(n *yaml.Node) {
		storeChoice(r, to, "temporary_tables", TemporaryRefuse, TemporaryAllow)(n)
	}
}
