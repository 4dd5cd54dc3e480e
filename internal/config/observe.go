package config

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// Metrics is where metrics and probes are served, without authentication.
type Metrics struct {
	// Listen is host:port, where port 0 takes a free one; empty is none. Default
	// 127.0.0.1:9187 where the configuration has the section.
	Listen string
	// Hosts are further names by which it may be asked for them, beside localhost, IP
	// addresses, and the name in Listen.
	Hosts []string `json:",omitempty"`
	// Tables says whether figures of single tables are among the metrics, which tell more
	// than the releases do. Default false.
	Tables bool
	// Exposed says whether these may be had from other machines. Default Refuse.
	Exposed Permission
}

// Audit is the log of who asked what.
type Audit struct {
	// File is its path, or AuditToStderr; empty is none. A relative path starts at the
	// configuration's folder.
	File string
	// OnFailure says what happens while it cannot be written. Default RefuseUnaudited.
	OnFailure OnAuditFailure
}

// AuditToStderr is the Audit.File that is no file.
const AuditToStderr = "stderr"

// OnAuditFailure says what happens while the audit log cannot be written.
type OnAuditFailure string

// The choices.
const (
	// RefuseUnaudited refuses statements, so that none runs that nobody will know of.
	RefuseUnaudited OnAuditFailure = "refuse"
	// DropRecords serves on, and counts the records that are lost.
	DropRecords OnAuditFailure = "drop"
)

// String is the choice's name in a configuration.
func (f OnAuditFailure) String() string { return string(f) }

const metricsAddress = "127.0.0.1:9187"

func (r *reader) metrics(to *Metrics) func(*yaml.Node) {
	return func(n *yaml.Node) {
		*to = Metrics{Listen: metricsAddress, Exposed: Refuse}
		problems := len(r.problems)
		r.mapping(
			n, "metrics",
			field{key: "listen", doc: "Where /metrics, /healthz and /readyz are served, without authentication: keep it to a trusted network.", read: r.marked("metrics.listen", r.metricsListen(&to.Listen))},
			field{key: "hosts", doc: "Names by which it may be asked besides localhost, IP addresses and the name in listen: as in http://kproxy.example:9187/metrics.", read: r.hostNames(&to.Hosts, "metrics hosts")},
			field{key: "tables", doc: "Whether figures of single tables are among the metrics. They tell of records that are not published.", read: r.marked("metrics.tables", r.storeBool(&to.Tables, "metrics tables"))},
			field{key: "exposed", doc: "Whether such figures may be had from other machines (refuse or allow).", read: storeChoice(r, &to.Exposed, "metrics exposed", Refuse, Allow)},
		)
		if len(r.problems) > problems {
			return
		}
		if to.Tables && to.Exposed != Allow && !isLoopback(to.Listen) {
			r.contradicts("figures of tables would be had from other machines by whoever reaches this address",
				"leave tables: out, listen on 127.0.0.1, or write exposed: allow where readers cannot reach it", "metrics.listen", "metrics.tables")
		}
	}
}

func (r *reader) metricsListen(to *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.byDefault(n, *to)
		text, ok := r.setting(n, "metrics listen")
		switch {
		case !ok:
		case !isAddress(text):
			r.wrong(r.follow(n), "metrics listen is not an address", "write host:port, for example "+metricsAddress)
		default:
			*to = text
		}
	}
}

// hostNames reads names of hosts, without ports.
func (r *reader) hostNames(to *[]string, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		for _, item := range r.oneOrMore(n, what, "a list: [kproxy.example]") {
			if r.exhausted() {
				return
			}
			text, ok := r.setting(item, what)
			switch {
			case !ok:
			case text == "" || strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz0123456789-._") != "":
				r.wrong(r.follow(item), what+" has "+quote(text)+", which is no name of a host", "write it without scheme, port and path: kproxy.example")
			default:
				*to = append(*to, text)
			}
		}
	}
}

func (r *reader) audit(to *Audit) func(*yaml.Node) {
	return func(n *yaml.Node) {
		to.OnFailure = RefuseUnaudited
		r.mapping(
			n, "audit",
			field{key: "file", need: "file: with a path, or stderr", doc: "The path of the file that the audit log is appended to, or stderr. A reload opens it again.", read: func(n *yaml.Node) {
				if text, ok := r.setting(n, "audit file"); ok {
					to.File = text
					if text != AuditToStderr {
						to.File = r.beside(text)
					}
				}
			}},
			field{key: "on_failure", doc: "What happens while the audit log cannot be written: statements are refused (refuse), or records are lost (drop).", read: storeChoice(r, &to.OnFailure, "audit on_failure", RefuseUnaudited, DropRecords)},
		)
	}
}
