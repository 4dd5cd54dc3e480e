package check

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/certificates"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/state"
)

// Report is the result of a check, for the operator.
type Report struct {
	// OK says that no finding is an error.
	OK bool `json:"ok"`
	// Alone says that all errors concern single names, and that kproxy serves the others.
	Alone bool `json:"alone"`
	// Starts says that 'kproxy serve' would start nevertheless, with what is published already.
	Starts bool `json:"starts"`
	// Tables counts the protected tables, and Publishable those among them that can be published
	// according to the findings.
	Tables      int `json:"tables"`
	Publishable int `json:"publishable"`
	// Mirrored counts the tables that are not protected, and published as they are.
	Mirrored int       `json:"mirrored,omitempty"`
	Findings []Finding `json:"findings"`
	// Audiences are those that see tables, with what holds for them.
	Audiences []Audience `json:"audiences,omitempty"`
	// Coalitions are those of readers who pool what they have of a table.
	Coalitions []Coalition `json:"coalitions,omitempty"`
	// Certificates are those that the configuration names, the first to end first.
	Certificates []state.Certificate `json:"certificates"`
}

// Finding is a finding with its line in the configuration.
type Finding struct {
	Severity inspect.Severity `json:"severity"`
	// Code does not change between versions.
	Code string `json:"code"`
	// Group is what it is about: the server, the roles, a table, ...
	Group  string `json:"group"`
	Table  string `json:"table,omitempty"`
	Column string `json:"column,omitempty"`
	// File and Line are the position in the configuration. Line is 0 if there is none.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	What string `json:"message"`
	Fix  string `json:"fix"`
	// Form says what Fix is.
	Form FixForm `json:"fix_form"`
}

// FixForm says what a fix is.
type FixForm string

// The forms.
const (
	FixSQL     FixForm = "sql"     // statements for an administrator
	FixCommand FixForm = "command" // a command of a shell
	FixAdvice  FixForm = "advice"  // what to write into the configuration, or to do
)

// Groups of findings, in the order in which they are shown.
const (
	groupSource      = "server of the source" // where it is another database than the release's
	groupServer      = "server"
	groupRoles       = "roles"
	groupPublication = "publication"
	groupOwn         = "kproxy's own schemas"
	groupReach       = "what the reader role can reach"
	groupLogin       = "logins"
)

var groupOrder = []string{groupSource, groupServer, groupRoles, groupPublication, groupOwn, groupReach, groupLogin}

// topic is the group of findings that name no relation, and the setting that they concern, if any.
type topic struct{ group, setting string }

// atSource are the codes of findings about a server that are always about that of the source.
var atSource = []string{
	"wal-level", "slots", "wal-senders", "wal-kept", "slot-failover", "slot-foreign",
	inspect.CodeSourceStandby, "standby-feedback", codePrimary, codeSlotPosition,
}

// topics are the topics of all codes that can occur without a relation.
var topics = map[string]topic{
	"server-version":               {groupServer, "upstream.owner.host"},
	"wal-level":                    {groupServer, ""},
	"server-encoding":              {groupServer, "upstream.owner.database"},
	"citus":                        {groupServer, "release.distribute"},
	"slots":                        {groupServer, "slot"},
	"wal-senders":                  {groupServer, ""},
	"wal-kept":                     {groupServer, "replication.alarm"},
	"slot-failover":                {groupServer, "slot"},
	"slot-foreign":                 {groupServer, "slot"},
	inspect.CodeSourceStandby:      {groupServer, "source.primary"},
	"standby-feedback":             {groupServer, "source.host"},
	codePrimary:                    {groupServer, "source.primary"},
	codeSlotPosition:               {groupServer, "slot"},
	CodeServer:                     {groupServer, "upstream.reader.hosts"},
	codePooler:                     {groupServer, "upstream"},
	"owner-missing":                {groupRoles, "upstream.owner.user"},
	"owner-replication":            {groupRoles, "upstream.owner.user"},
	"owner-login":                  {groupRoles, "upstream.owner.user"},
	"owner-superuser":              {groupRoles, "upstream.owner.user"},
	"reader-missing":               {groupRoles, "upstream.reader.user"},
	"reader-login":                 {groupRoles, "upstream.reader.user"},
	"reader-superuser":             {groupRoles, "upstream.reader.user"},
	"reader-attribute":             {groupRoles, "upstream.reader.user"},
	"reader-member":                {groupRoles, "upstream.reader.user"},
	"reader-admin":                 {groupRoles, "upstream.readers"},
	"reader-setting":               {groupRoles, "upstream.reader.user"},
	inspect.CodeFurtherReader:      {groupRoles, "upstream.readers"},
	codePublication:                {groupPublication, "publication"},
	"schema-missing":               {groupOwn, ""},
	codeSeal:                       {groupOwn, "release.seal"},
	codeSuperseded:                 {groupOwn, ""},
	inspect.CodeOtherConfiguration: {groupOwn, "upstream.owner.database"},
	inspect.CodeOtherPlace:         {groupOwn, "upstream.owner.database"},
	"schema-owner":                 {groupOwn, ""},
	"schema-usage":                 {groupOwn, ""},
	"store-old":                    {groupOwn, ""},
	"stand-in":                     {groupOwn, ""},
	"helper":                       {groupOwn, ""},
	"helper-schema":                {groupOwn, ""},
	"published-grant":              {groupOwn, ""},
	inspect.CodeType:               {groupOwn, "upstream.owner.database"},
	"reader-owns":                  {groupReach, "upstream.readers"},
	"reader-grant":                 {groupReach, "upstream.readers"},
	inspect.CodeFormerAudience:     {groupRoles, "upstream.readers"},
	"audience-grant":               {groupReach, "upstream.readers"},
	"reader-writable":              {groupReach, "temporary_tables"},
	"reader-writes":                {groupReach, "temporary_tables"},
	inspect.CodeTemporaryGrant:     {groupReach, "temporary_tables"},
	"store-grant":                  {groupReach, ""},
	"schema-create":                {groupReach, ""},
	"database-temporary":           {groupReach, "temporary_tables"},
	"database-create":              {groupReach, ""},
	"user-mapping":                 {groupReach, ""},
	"default-privilege":            {groupReach, ""},
	"foreign-table":                {groupReach, ""},
	"large-object":                 {groupReach, ""},
	"catalog-object":               {groupReach, ""},
	"catalog-implicit":             {groupReach, ""},
	codeLogin:                      {groupLogin, "upstream.reader"},
	CodeAuthQuery:                  {groupLogin, "auth_query"},
	codeListenPlain:                {groupLogin, "listen"},
	codeConnections:                {groupServer, "limits.max_connections"},
	codeDescriptors:                {groupServer, "limits.max_sessions"},
	codeCertificate:                {groupLogin, "tls"},
	codeCertificateKind:            {groupLogin, "tls.cert_file"},
}

// Summarize locates findings in the configuration, and sorts them by group, with those that prevent
// kproxy from serving first. Before are the tables that were published before.
func Summarize(c *config.Config, report inspect.Report, before []catalog.Name) Report {
	errs := report.Errors()
	e := Report{OK: len(errs) == 0, Alone: len(errs) > 0 && Alone(c.Policy, errs), Tables: len(c.Policy.Protecting().Tables), Mirrored: len(c.Policy.Mirrored()), Findings: []Finding{}, Audiences: audiencesOf(c.Policy), Coalitions: coalitionsOf(c.Policy)}
	all, _ := certificates.Read(c) // whose error is a finding
	e.Certificates = append([]state.Certificate{}, all...)
	e.Starts = e.OK || Divide(c.Policy, errs).start(c.Policy, before)
	for _, t := range c.Policy.Protecting().Tables {
		if !slices.ContainsFunc(report, func(f inspect.Finding) bool {
			return f.Table == t.Table && (f.Withholds || f.Severity == inspect.Error)
		}) {
			e.Publishable++
		}
	}
	for _, f := range report {
		e.Findings = append(e.Findings, found(c, f))
	}
	slices.SortStableFunc(e.Findings, func(a, b Finding) int {
		if byGroup := rank(a.Group) - rank(b.Group); byGroup != 0 {
			return byGroup
		}
		if a.Group != b.Group {
			return strings.Compare(a.Group, b.Group)
		}
		return int(b.Severity) - int(a.Severity)
	})
	return e
}

// rank returns the position of a group. Single names come last.
func rank(group string) int {
	if i := slices.Index(groupOrder, group); i >= 0 {
		return i
	}
	return len(groupOrder)
}

func found(c *config.Config, f inspect.Finding) Finding {
	one := Finding{Severity: f.Severity, Code: f.Code, Column: f.Column, What: f.What, Fix: f.Fix, Form: formOf(f.Fix)}
	if meant := meantName.FindStringSubmatch(f.Fix); meant != nil && f.Table != (catalog.Name{}) {
		one.Fix = "write " + meant[1] + " in place of " + f.Table.String()
	}
	var at config.Position
	if f.Table != (catalog.Name{}) {
		one.Table = f.Table.String()
		one.Group = groupOf(c, f.Table)
		at = c.Locate(f.Table, f.Column)
	}
	about := topics[f.Code]
	if one.Group == "" {
		one.Group = about.group
		if c.IsApart() && slices.Contains(atSource, f.Code) {
			one.Group = groupSource
		}
	}
	if at.Line == 0 && about.setting != "" {
		at = c.LocateSetting(about.setting)
	}
	if one.Group == "" {
		one.Group = groupReach
	}
	if at.Line > 0 {
		one.File, one.Line = at.File, at.Line
	}
	return one
}

// groupOf returns the group of a relation, empty if the configuration does not name it.
func groupOf(c *config.Config, name catalog.Name) string {
	switch {
	case upstream.Protects(c.Policy, name):
		return "table " + name.String()
	case slices.Contains(c.Policy.Readable, name):
		return "readable " + name.String()
	case slices.Contains(c.Policy.Functions, name):
		return "function " + name.String()
	}
	return ""
}

var (
	sqlFix     = regexp.MustCompile(`^(ALTER|GRANT|REVOKE|CREATE|DROP|SELECT|DELETE|UPDATE|COMMENT|SET|RESET|BEGIN|DO|REASSIGN) `)
	meantName  = regexp.MustCompile(`^did you mean (.+)\?$`)
	commandFix = regexp.MustCompile(`^(?:run )?'?kproxy ([a-z]+)'?$`)
)

func formOf(fix string) FixForm {
	switch {
	case sqlFix.MatchString(fix):
		return FixSQL
	case commandFix.MatchString(fix):
		return FixCommand
	}
	return FixAdvice
}

// typed returns the fix as text to type: the last statement ends in a semicolon, with remarks on a
// line below, and commands name the configuration.
func (f Finding) typed(file string) string {
	switch f.Form {
	case FixSQL:
		statements, remark, remarked := strings.Cut(f.Fix, "\n-- ")
		statements = strings.TrimRight(statements, "; \n") + ";"
		if remarked {
			return statements + "\n-- " + remark
		}
		return statements
	case FixCommand:
		return "kproxy " + commandFix.FindStringSubmatch(f.Fix)[1] + " -c " + file
	}
	return f.Fix
}

// mirrored tells of the tables that are not protected; empty without any.
func (e Report) mirrored() string {
	if e.Mirrored == 0 {
		return ""
	}
	return fmt.Sprintf(", %d mirrored", e.Mirrored)
}

// Verdict summarizes the findings in one line: what can be published, or what 'kproxy serve' would
// do in spite of errors.
func (e Report) Verdict() string {
	const kept = "those named as " + inspect.CodeNearlyUnique + " as before, and refuse them under another policy"
	errs := e.Errors().Findings
	unique := len(slices.DeleteFunc(slices.Clone(errs), func(f Finding) bool { return f.Code != inspect.CodeNearlyUnique }))
	switch {
	case e.OK && e.Publishable < e.Tables:
		return fmt.Sprintf("ok: %d of %d protected tables can be published%s, and the reader role reaches no raw row", e.Publishable, e.Tables, e.mirrored())
	case e.OK:
		return fmt.Sprintf("ok: %d protected tables can be published%s, and the reader role reaches no raw row", e.Tables, e.mirrored())
	case !e.Starts:
		return "the check failed: 'kproxy serve' would refuse to start"
	case unique == 0:
		return "the check failed: 'kproxy serve' would start, but withdraw what is named"
	case unique == len(errs):
		return "the check failed: 'kproxy serve' would start, serve " + kept
	}
	return "the check failed: 'kproxy serve' would start, but withdraw what is named; it would serve " + kept
}

// Errors returns the findings that prevent kproxy from serving.
func (e Report) Errors() Report {
	e.Findings = slices.DeleteFunc(slices.Clone(e.Findings), func(f Finding) bool { return f.Severity != inspect.Error })
	e.Certificates, e.Audiences, e.Coalitions = []state.Certificate{}, nil, nil
	return e
}

// String returns the findings by group, each with its position and fix, and the certificates.
func (e Report) String() string {
	var b strings.Builder
	group := ""
	for _, f := range e.Findings {
		if f.Group != group {
			if group != "" {
				b.WriteByte('\n')
			}
			group = f.Group
			fmt.Fprintf(&b, "%s\n", group)
		}
		b.WriteString("  " + f.Severity.String() + ": ")
		if f.Line > 0 {
			fmt.Fprintf(&b, "%s:%d: ", f.File, f.Line)
		}
		if f.Table != "" && !strings.HasSuffix(group, " "+f.Table) {
			b.WriteString(f.Table + ": ")
		}
		if f.Column != "" {
			b.WriteString("column " + f.Column + ": ")
		}
		fmt.Fprintf(&b, "%s [%s]\n", f.What, f.Code)
		if f.Fix != "" {
			fmt.Fprintf(&b, "    fix: %s\n", strings.ReplaceAll(f.typed(f.file()), "\n", "\n         "))
		}
	}
	if len(e.Audiences) > 0 && group != "" {
		b.WriteByte('\n')
	}
	if e.writeAudiences(&b); len(e.Audiences) > 0 {
		group = "audiences"
	}
	if len(e.Certificates) > 0 {
		if group != "" {
			b.WriteByte('\n')
		}
		b.WriteString(certificates.Table(e.Certificates))
	}
	return b.String()
}

// file returns the file of the configuration, for commands.
func (f Finding) file() string {
	if f.File == "" {
		return "FILE"
	}
	return f.File
}
