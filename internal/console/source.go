package console

import (
	"context"
	"errors"
	"time"

	"github.com/kproxy/kproxy/internal/state"
)

// Source is where the console's figures come from, and what acts for it. Its answers hold
// no value of a source row but what readers may see of the release.
type Source interface {
	// Site names what is watched; it does not wait for anything.
	Site() Site
	Overview(ctx context.Context) (Overview, error)
	// Table describes one protected table; ErrUnknown where there is none of the name.
	Table(ctx context.Context, name string) (Table, error)
	Activity(ctx context.Context) (Activity, error)
	// Settings are what the process runs under. No secret is among them.
	Settings() []Section
	// Methods are the names of the methods that a table's constraints leave.
	Methods(ctx context.Context, table string) (Choices, error)
	// Try measures what other parameters would do to a table, on a sample of its records.
	// It tells after each run what is known, and returns when all have ended or ctx has.
	Try(ctx context.Context, parameters Parameters, tell func(Trial)) (Trial, error)
	// BeginsLineage tells whether a table, published afresh, begins a new lineage.
	BeginsLineage(ctx context.Context, table string) (bool, error)
	// Act does something and says in a sentence or more what came of it.
	Act(ctx context.Context, a Action) ([]string, error)
}

// ErrUnknown says that there is nothing of the name that was given.
var ErrUnknown = errors.New("there is nothing of this name")

// InputError is a mistake of who filled in a form, in words for them.
type InputError string

func (e InputError) Error() string { return string(e) }

// Site is what a console watches.
type Site struct {
	Database string   `json:"database"`
	Version  string   `json:"version"`
	Process  string   `json:"process"` // machine and process that shows the console
	Tables   []Listed `json:"tables"`  // protected, in the configuration's order
	// Refused says that this process refuses readers, and Needs counts what needed the operator when the
	// overview was read last.
	Refused bool `json:"readers_refused"`
	Needs   int  `json:"needs"`
}

// Listed is a protected table in the list of all.
type Listed struct {
	Name string `json:"table"`
	// State is that of the table in the process that shows the console; empty where it knows none.
	State string `json:"state"`
}

// Overview is what the first page shows.
type Overview struct {
	At time.Time `json:"at"` // the server's clock
	// Refused says that readers are refused, since when and why; nil where a process serves them.
	Refused *state.Refusal `json:"readers_refused,omitempty"`
	// Needs is what waits for the operator; that readers are refused comes first.
	Needs  []state.Need `json:"needs"`
	Tables []Release    `json:"tables"`
	Views  []state.View `json:"views"`
	// Audiences are those of the policy, from the finest to the coarsest.
	Audiences []Audience `json:"audiences,omitempty"`
	// Replication is nil where the database does not tell.
	Replication *Replication `json:"replication"`
	Processes   []Process    `json:"processes"`
	// Silent is how many processes have not answered.
	Silent int `json:"silent"`
}

// Release is a protected table.
type Release struct {
	state.Table
	Method      string   `json:"method"`
	Constraints []string `json:"constraints"`
	// Loss is the information loss that was measured last, 0 to 1, and LossAt when it was. Both
	// are nil before that.
	Loss   *float64   `json:"information_loss"`
	LossAt *time.Time `json:"information_loss_at"`
	// FiguresAt is when records, rows and classes were counted, nil where they were not, or as the page
	// was read.
	FiguresAt *time.Time `json:"figures_at,omitempty"`
	// Audiences are those that see the table, from the finest to the coarsest.
	Audiences []Seen `json:"audiences,omitempty"`
}

// Seen is what an audience sees of a table.
type Seen struct {
	state.Audience
	// Constraints are all that hold, those on hidden columns among them.
	Constraints []string `json:"constraints"`
	Hidden      []string `json:"hidden"`
	// Smallest and Largest are the sizes of its classes in rows, 0 where they were not counted.
	Smallest int `json:"smallest_class"`
	Largest  int `json:"largest_class"`
	// Loss is the information loss, 0 to 1, in which hidden columns count as lost; nil where it was not measured.
	Loss *float64 `json:"information_loss"`
	Members
}

// Members are who belongs to an audience.
type Members struct {
	Readers []string `json:"readers"` // of upstream.readers
	Users   []string `json:"users"`   // of the configuration
	// LookedUp says that the users belong to it, too, whom auth_query finds.
	LookedUp bool `json:"users_looked_up,omitempty"`
}

// Audience is a group of readers.
type Audience struct {
	Name string `json:"audience"`
	Members
}

// Replication is how far releases are behind the source, and what this process does about it.
type Replication struct {
	state.Replication
	State string `json:"state"` // of this process
	// Lag is the age of the oldest change that readers do not see, nil where this process
	// does not measure it.
	Lag *time.Duration `json:"lag_ns"`
	// Alarm is the bound of Retained from which the log warns, 0 for none.
	Alarm int64 `json:"alarm_bytes"`
	// Applier says where changes are applied, empty where they are not.
	Applier string `json:"applier"`
}

// Process is one kproxy that serves.
type Process struct {
	Name     string `json:"process"`
	Sessions int    `json:"sessions"`
	// Kept are the answers that it keeps, and Hits how many questions they have answered.
	Kept        int    `json:"kept"`
	Hits        uint64 `json:"hits"`
	Connections int    `json:"connections"` // those of sessions among them
}

// Table is all that the page of a table shows.
type Table struct {
	At time.Time `json:"at"`
	// Unread says why the database tells nothing of the table, so that what is shown may be old. It is
	// empty where it does.
	Unread string `json:"unread,omitempty"`
	Release
	Columns []Column `json:"columns"`
	// Sizes are how many classes have so many rows, ascending; K is the smallest size
	// that is allowed, 0 where nothing says.
	Sizes []SizeCount `json:"class_sizes"`
	K     int         `json:"k"`
	Risk  Risk        `json:"risk"`
	// Measured is how many records the information loss was measured on, of whole
	// classes; 0 where it was not.
	Measured int     `json:"measured_records"`
	History  []Loss  `json:"loss_history"`
	Preview  Preview `json:"preview"`
}

// Column is a column of a policy.
type Column struct {
	Name      string   `json:"name"`
	Role      string   `json:"role"`
	Subject   bool     `json:"subject,omitempty"` // tells persons apart
	Hierarchy string   `json:"hierarchy,omitempty"`
	Published []string `json:"published"` // names of columns with their types
	// Loss is the column's information loss, 0 to 1; nil for what is not generalized.
	Loss *float64 `json:"information_loss"`
}

// SizeCount says how many classes have so many rows.
type SizeCount struct {
	Size    int   `json:"size"`
	Classes int64 `json:"classes"`
}

// Risk is how likely who knows that somebody is in the table finds the record, 0 to 1:
// the prosecutor's risk.
type Risk struct {
	Highest float64 `json:"highest"`
	Average float64 `json:"average"`
}

// Loss is the information loss at one moment.
type Loss struct {
	At         time.Time `json:"at"`
	Loss       float64   `json:"information_loss"`
	Generation int64     `json:"generation"`
}

// Preview is the beginning of a release as readers see it. Reason says why there is none.
type Preview struct {
	Columns []Shown     `json:"columns"`
	Rows    [][]*string `json:"rows"` // nil is NULL
	Reason  string      `json:"reason,omitempty"`
}

// Shown is a published column with its source's policy; both are empty for the columns
// that guarded tables have besides.
type Shown struct {
	Name string   `json:"name"`
	Role string   `json:"role"`
	Loss *float64 `json:"information_loss"`
}

// Activity is what clients do.
type Activity struct {
	At       time.Time `json:"at"`
	Sessions []Session `json:"sessions"`
	Slow     []Shape   `json:"slow"`
	Refused  []Shape   `json:"refused"`
	// Hidden says why there is nothing about statements; empty where there is.
	Hidden string `json:"hidden,omitempty"`
}

// Session is a client that is connected to this process.
type Session struct {
	User        string    `json:"user"`
	Reader      string    `json:"reader"`
	Audience    string    `json:"audience,omitempty"`
	Client      string    `json:"client"`
	Application string    `json:"application"`
	Since       time.Time `json:"since"`
	State       string    `json:"state"`
	// Shape is the statement that runs, without its constants, and StatementSince since
	// when; empty and zero where none does.
	Shape          string    `json:"shape"`
	StatementSince time.Time `json:"statement_since"`
}

// Shape is statements that differ in constants alone.
type Shape struct {
	Shape    string    `json:"shape"`
	SQLSTATE string    `json:"sqlstate,omitempty"`
	Count    int64     `json:"count"`
	Mean     float64   `json:"mean_seconds"`
	Longest  float64   `json:"longest_seconds"`
	Last     time.Time `json:"last"`
}

// Section is a part of the configuration.
type Section struct {
	Name     string    `json:"name"`
	Settings []Setting `json:"settings"`
}

// Unset are the keys of settings without a value.
func (s Section) Unset() []string {
	var keys []string
	for _, setting := range s.Settings {
		if setting.Value == "" {
			keys = append(keys, setting.Key)
		}
	}
	return keys
}

// Setting is one of them.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Action is something that the operator wants done.
type Action struct {
	Name  string // reload, resync, rebuild, reanonymize or loglevel
	Table string // empty is all, where that can be
	Level string // of loglevel: debug, info, warn or error
	User  string // who wants it
}

// Choices are what a trial of a table can be asked for.
type Choices struct {
	// Kind is the kind of person whose tables the table is released with; empty without one. Methods
	// are then what an outsider may be taken to know, and Method is what the policy says.
	Kind    string   `json:"kind,omitempty"`
	Methods []string `json:"methods"` // those that can honor the constraints
	Method  string   `json:"method"`  // in force
	K       int      `json:"k"`       // in force, 0 where the policy has no k to vary
	L       float64  `json:"l"`       // likewise
}

// Parameters are what a trial is asked for.
type Parameters struct {
	Table   string   `json:"table"`
	Methods []string `json:"methods"`
	K       []int    `json:"k"`              // ascending
	L       float64  `json:"l"`              // 0 leaves the policy's own
	Sample  int      `json:"sample_records"` // or persons
}

// Trial is what is known of one.
type Trial struct {
	Records int   `json:"records"` // in the sample; or persons
	Of      int64 `json:"of"`      // in the table
	Done    int   `json:"done"`    // runs
	Total   int   `json:"total"`
	// Runs are those that have ended, by method and k.
	Runs []Run `json:"runs"`
}

// Run is one method under one k.
type Run struct {
	Method   string  `json:"method"`
	K        int     `json:"k"`
	L        float64 `json:"l"`
	InForce  bool    `json:"in_force"`
	Refused  string  `json:"refused,omitempty"`
	Loss     float64 `json:"information_loss"`
	Highest  float64 `json:"highest_risk"`
	Average  float64 `json:"average_risk"`
	Classes  int     `json:"classes"`
	Smallest int     `json:"smallest_class"`
	Largest  int     `json:"largest_class"`
	Withheld int     `json:"withheld"`
	Seconds  float64 `json:"seconds"`
	// People is nil but for tables about the same persons.
	People *PeopleRun `json:"people,omitempty"`
}
