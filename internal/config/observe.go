package config

import "go.yaml.in/yaml/v3"

// Metrics is where metrics and probes are served, without authentication.
type Metrics struct {
	// Listen is host:port, where port 0 takes a free one; empty is none.
	Listen string `yaml:"listen" what:"metrics listen" as:"address" default:"127.0.0.1:9187" doc:"Where /metrics, /healthz and /readyz are served, without authentication: keep it to a trusted network."`
	// Hosts are further names by which it may be asked for them.
	Hosts []string `json:",omitempty" yaml:"hosts" what:"metrics hosts" as:"host name" single:"yes" fix:"a list: [kproxy.example], or remove the key" doc:"Names by which it may be asked besides localhost, IP addresses and the name in listen: as in http://kproxy.example:9187/metrics."`
	// Tables says whether figures of single tables are among the metrics, which tell more
	// than the releases do.
	Tables  bool       `yaml:"tables" what:"metrics tables" default:"false" doc:"Whether figures of single tables are among the metrics. They tell of records that are not published."`
	Exposed Permission `yaml:"exposed" what:"metrics exposed" choices:"refuse allow" default:"refuse" doc:"Whether such figures may be had from other machines (refuse or allow)."`
}

func (m *Metrics) check(d *decoder, n *yaml.Node, _ string) {
	if !m.Tables || m.Exposed == Allow || isLoopback(m.Listen) || d.flawed[m] {
		return
	}
	d.wrong(d.at(&m.Listen), "figures of tables would be had from other machines by whoever reaches this address",
		"leave tables: out, listen on 127.0.0.1, or write exposed: allow where readers cannot reach it")
}

// Audit is the log of who asked what.
type Audit struct {
	// File is its path, or AuditToStderr; empty is none. A relative path starts at the
	// configuration's folder.
	File string `yaml:"file" what:"audit file" as:"output" need:"file: with a path, or stderr" doc:"The path of the file that the audit log is appended to, or stderr. A reload opens it again."`
	// OnFailure says what happens while it cannot be written.
	OnFailure OnAuditFailure `yaml:"on_failure" what:"audit on_failure" choices:"refuse drop" default:"refuse" doc:"What happens while the audit log cannot be written: statements are refused (refuse), or records are lost (drop)."`
}

// AuditToStderr is the Audit.File that is no file.
const AuditToStderr = "stderr"

// OnAuditFailure says what happens while the audit log cannot be written.
type OnAuditFailure string

// The choices.
const (
	// RefuseUnaudited refuses statements, so that none runs without a record.
	RefuseUnaudited OnAuditFailure = "refuse"
	// DropRecords serves on, and counts the records that are lost.
	DropRecords OnAuditFailure = "drop"
)
