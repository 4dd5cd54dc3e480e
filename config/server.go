package config

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

func (r *reader) address(to *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		text, ok := r.setting(n, "listen")
		if !ok {
			return
		}
		host, port, err := net.SplitHostPort(text)
		if err == nil {
			_, err = strconv.ParseUint(port, 10, 16)
		}
		if err != nil || host != "" && !isHost(host) {
			r.wrong(r.follow(n), "listen is not an address", "write host:port, for example 127.0.0.1:6432, [::1]:6432 or :6432 for all interfaces")
			return
		}
		*to = text
	}
}

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
			field{key: "mode", read: func(n *yaml.Node) {
				// An unknown mode still counts as one, so that it makes one problem, not two.
				m, _ := choose(r, n, "tls mode", TLSOff, TLSAllow, TLSRequire)
				mode = &m
			}},
			field{key: "cert_file", read: func(n *yaml.Node) { cert = n; r.path(&to.CertFile, "cert_file")(n) }},
			field{key: "key_file", read: func(n *yaml.Node) { key = n; r.path(&to.KeyFile, "key_file")(n) }},
		)
		switch {
		case mode != nil:
			to.Mode = *mode
		case cert != nil || key != nil:
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
	if _, err := tls.X509KeyPair(certificate, private); err != nil {
		r.wrong(r.follow(key), "cert_file and key_file are no pair of a certificate and its key",
			"give PEM files: the certificate first, then its chain; the key without a passphrase")
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

func (r *reader) users(to *[]User) func(*yaml.Node) {
	return func(n *yaml.Node) {
		const example = "- name: analyst, and verifier: under it as `kproxy password` prints it"
		items := r.items(n, "users", example)
		if r.follow(n).Kind == yaml.SequenceNode && len(items) == 0 {
			r.wrong(r.follow(n), "users is empty, so that nobody can log in", "write "+example)
		}
		lines := make(map[string]int)
		for _, item := range items {
			if r.exhausted() {
				return
			}
			u, name := r.user(item)
			if name == nil {
				continue
			}
			if line, twice := lines[u.Name]; twice {
				r.wrong(name, "user "+quote(u.Name)+" stands twice, first on line "+strconv.Itoa(line), "remove one of them")
				continue
			}
			lines[u.Name] = name.Line
			*to = append(*to, u)
		}
	}
}

// user reads a user and the node of its name, nil when it has none.
func (r *reader) user(n *yaml.Node) (u User, name *yaml.Node) {
	r.mapping(
		n, "a user",
		field{key: "name", need: "name: and the name to log in with", read: func(n *yaml.Node) {
			if text, ok := r.name(n, "a user's name"); ok {
				u.Name, name = text, r.follow(n)
			}
		}},
		field{key: "verifier", need: "verifier: as `kproxy password` prints it", read: r.verifier(&u.Verifier)},
		field{key: "password", refused: true, read: func(n *yaml.Node) {
			r.wrong(r.follow(n), "a user's password must not stand in the file", "write verifier: as `kproxy password` prints it")
		}},
	)
	return u, name
}

func (r *reader) limits(to *Limits) func(*yaml.Node) {
	return func(n *yaml.Node) {
		var message *yaml.Node
		r.mapping(
			n, "limits",
			field{key: "max_sessions", read: r.storeInteger(&to.MaxSessions, "max_sessions", 1, 100_000)},
			field{key: "max_statement_bytes", read: r.storeInteger(&to.MaxStatementBytes, "max_statement_bytes", 1<<10, 64<<20)},
			field{key: "max_message_bytes", read: func(n *yaml.Node) {
				message = n
				r.storeInteger(&to.MaxMessageBytes, "max_message_bytes", 1<<10, 1<<30)(n)
			}},
			field{key: "max_tokens", read: r.storeInteger(&to.MaxTokens, "max_tokens", 1000, 10_000_000)},
			field{key: "max_statements", read: r.storeInteger(&to.MaxStatements, "max_statements", 1, 100_000)},
			field{key: "max_depth", read: r.storeInteger(&to.MaxDepth, "max_depth", 20, 200)},
			field{key: "statement_cache_bytes", read: r.storeInteger(&to.StatementCacheBytes, "statement_cache_bytes", 0, 1<<30)},
		)
		if to.MaxMessageBytes >= to.MaxStatementBytes {
			return
		}
		if message == nil {
			to.MaxMessageBytes = to.MaxStatementBytes
			return
		}
		r.wrong(r.follow(message), "max_message_bytes is less than max_statement_bytes, so that no statement can be that long",
			"write at least "+strconv.Itoa(to.MaxStatementBytes))
	}
}

func (r *reader) timeouts(to *Timeouts) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.mapping(
			n, "timeouts",
			field{key: "login", read: r.storeDuration(&to.Login, "login", false, maxDuration)},
			field{key: "connect", read: r.storeDuration(&to.Connect, "connect", false, maxDuration)},
			field{key: "statement", read: r.storeDuration(&to.Statement, "statement", true, maxDuration)},
			field{key: "idle", read: r.storeDuration(&to.Idle, "idle", true, maxDuration)},
			field{key: "shutdown", read: r.storeDuration(&to.Shutdown, "shutdown", true, maxDuration)},
		)
	}
}

func (r *reader) log(to *Log) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.mapping(
			n, "log",
			field{key: "level", read: func(n *yaml.Node) {
				if level, ok := choose(r, n, "log level", logLevels...); ok {
					to.Level = slog.Level(level)
				}
			}},
			field{key: "format", read: func(n *yaml.Node) {
				if format, ok := choose(r, n, "log format", LogText, LogJSON); ok {
					to.Format = format
				}
			}},
		)
	}
}

// logLevel is a level by its name in lower case.
type logLevel slog.Level

var logLevels = []logLevel{logLevel(slog.LevelDebug), logLevel(slog.LevelInfo), logLevel(slog.LevelWarn), logLevel(slog.LevelError)}

func (l logLevel) String() string { return strings.ToLower(slog.Level(l).String()) }

func (r *reader) temporaryTables(to *TemporaryTables) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if choice, ok := choose(r, n, "temporary_tables", TemporaryRefuse, TemporaryAllow); ok {
			*to = choice
		}
	}
}
