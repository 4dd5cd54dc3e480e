package draft

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/propose"
	"github.com/kproxy/kproxy/internal/scram"
)

// Outcome is the result of a draft, to be shown and written.
type Outcome struct {
	// Database is the database that was read.
	Database string  `json:"database"`
	Tables   []Table `json:"tables"`
	// People are the kinds of persons whose tables are released together.
	People []People `json:"people,omitempty"`
	// File is the configuration's path, and Passwords those of the roles' passwords; with
	// what stands there already.
	File      string     `json:"file,omitempty"`
	Passwords []Password `json:"password_files,omitempty"`
	User      string     `json:"user,omitempty"`
	// Password is the user's, which stands nowhere else.
	Password string `json:"password,omitempty"`
	// Next are the steps that remain, each a command or what to do.
	Next []Step `json:"next,omitempty"`

	// Text is the configuration; empty where no table is protected.
	Text string `json:"-"`
	// Section are the tables alone, as --print shows them.
	Section string `json:"-"`
}

// Table is one table of the outcome.
type Table struct {
	Table   string `json:"table"`
	Verdict string `json:"verdict"`
	Why     string `json:"why"`
	// Records is how many the table has, Looked at how many were taken.
	Records int64   `json:"records"`
	Looked  int     `json:"records_looked_at"`
	Unique  float64 `json:"unique"`
	Subject string  `json:"subject,omitempty"`
	// Kind is that with whose tables it is released; Keys are then published as pseudonyms.
	Kind    string   `json:"kind,omitempty"`
	Keys    []string `json:"keys,omitempty"`
	Columns []Column `json:"columns,omitempty"`
	Effects []Effect `json:"effects,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

// Column is one column of a protected table.
type Column struct {
	Column    string `json:"column"`
	Role      string `json:"role"`
	Hierarchy string `json:"hierarchy,omitempty"`
	Why       string `json:"why"`
	Unsure    bool   `json:"unsure"`
}

// Password is a file with the password of a role.
type Password struct {
	Role string `json:"role"`
	File string `json:"file"`
	// Existed says that the file was there before, and is used as it is.
	Existed bool `json:"existed"`
}

// Step is what to do next.
type Step struct {
	What    string `json:"what"`
	Command string `json:"command,omitempty"`
}

// ExistsError means that a configuration exists already; it is not replaced.
type ExistsError struct{ Path string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("%s exists, and is not replaced: go on with 'kproxy setup -c %s', or choose another name with --out", e.Path, e.Path)
}

// CheckOut returns an error if a file exists at the path, or cannot be created in its folder.
func CheckOut(out string) error {
	if _, err := os.Stat(filepath.Dir(out)); err != nil {
		return fmt.Errorf("the folder of the configuration: %w", err)
	}
	_, err := os.Lstat(out)
	switch {
	case err == nil:
		return &ExistsError{Path: out}
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return fmt.Errorf("looking for %s: %w", out, err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func (p *proposing) outcome(c *pgx.ConnConfig, around surroundings, effects map[catalog.Name][]Effect, skipped []Skipped) (*Outcome, error) {
	o := &Outcome{Database: around.database}
	for _, one := range p.proposals {
		o.Tables = append(o.Tables, tableOf(one, effects[one.Table]))
	}
	for _, k := range p.kinds {
		o.People = append(o.People, peopleOutcome(k, p.people[k.Name]))
	}
	for _, s := range skipped {
		o.Tables = append(o.Tables, Table{Table: s.Table.String(), Verdict: propose.LeaveOut.String(), Why: s.Why})
	}
	if len(drafts(p.proposals)) == 0 {
		return o, nil
	}
	password, err := secret()
	if err != nil {
		return nil, err
	}
	verifier, err := scram.New(password)
	if err != nil {
		return nil, fmt.Errorf("making the user's verifier: %w", err)
	}
	n := around.choose(p.Out, exists)
	o.File, o.User, o.Password = p.Out, p.User, password
	for _, role := range []string{n.owner, n.reader} {
		file := passwordFile(p.Out, role)
		o.Passwords = append(o.Passwords, Password{Role: role, File: file, Existed: exists(file)})
	}
	reach := connectionOf(c, n, p.Options)
	reach.database = around.database
	o.Text = p.configuration(reach, fmt.Sprint(verifier))
	o.Section = propose.Section(drafts(p.proposals), p.kinds...)
	if _, err := config.Parse(p.Out, []byte(o.Text)); err != nil {
		return nil, fmt.Errorf("the draft cannot be used as a configuration: %w", err)
	}
	o.Next = p.next(c, around)
	return o, nil
}

func tableOf(one propose.Proposal, effects []Effect) Table {
	t := Table{Table: one.Table.String(), Verdict: one.Verdict.String(), Why: one.Why, Effects: effects}
	if one.Verdict != propose.Protect {
		return t
	}
	d := one.Draft
	t.Records, t.Looked, t.Unique, t.Notes, t.Kind, t.Keys = d.Total, d.Records, d.Unique, d.Notes, d.Kind, d.Keys
	if d.Subject != nil {
		t.Subject = d.Subject.Column
	}
	for _, c := range d.Choices {
		role := "not named"
		if c.Role != 0 {
			role = c.Role.String()
		}
		t.Columns = append(t.Columns, Column{Column: c.Column, Role: role, Hierarchy: c.Hierarchy(), Why: c.Why, Unsure: c.Unsure})
	}
	return t
}

// secret is a password of 144 random bits in letters, digits, - and _.
func secret() (string, error) {
	bytes := make([]byte, 18)
	if _, err := rand.Read(bytes); err != nil {
		return "", fmt.Errorf("making a password: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(bytes), nil
}

// next are the commands that remain, in their order. No password is in them.
func (p *proposing) next(c *pgx.ConnConfig, around surroundings) []Step {
	var steps []Step
	if around.walLevel != "logical" {
		steps = append(steps, Step{"the server's wal_level is " + around.walLevel + ": as a superuser, and then restart the server", "ALTER SYSTEM SET wal_level = 'logical'"})
	}
	file := shell(p.Out)
	admin := url.URL{Scheme: "postgresql", User: url.User(c.User), Host: net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))), Path: around.database}
	if filepath.IsAbs(c.Host) {
		admin.Host, admin.RawQuery = "", url.Values{"host": {c.Host}, "port": {strconv.Itoa(int(c.Port))}}.Encode()
	}
	who := ""
	if !around.superuser {
		who = "; role " + c.User + " may not create roles: name one that may"
	}
	host, port, _ := net.SplitHostPort(p.Listen)
	return append(steps,
		Step{"read every line of the tables", cmp.Or(os.Getenv("EDITOR"), "less") + " " + file},
		Step{"prepare the database (a password: PGPASSWORD or .pgpass)" + who, "kproxy setup -c " + file + " --admin-url " + shell(admin.String())},
		Step{"look whether anything stands in the way", "kproxy check -c " + file},
		Step{"publish and serve", "kproxy serve -c " + file},
		Step{"query, as " + p.User, fmt.Sprintf("psql %s", shell(fmt.Sprintf("postgresql://%s@%s/%s", url.User(p.User), net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port), url.PathEscape(around.database))))},
	)
}

// Write makes the files of passwords that are not there, and the configuration, none of
// which others may read. What it has made is gone again after an error.
func (o *Outcome) Write() (err error) {
	var made []string
	defer func() {
		if err != nil {
			for _, path := range made {
				_ = os.Remove(path)
			}
		}
	}()
	create := func(path, text string) error {
		if err := writeNew(path, text); err != nil {
			return err
		}
		made = append(made, path)
		return nil
	}
	for _, p := range o.Passwords {
		if p.Existed {
			continue
		}
		password, err := secret()
		if err != nil {
			return err
		}
		if err := create(p.File, password+"\n"); err != nil {
			return fmt.Errorf("writing the password of %s: %w", p.Role, err)
		}
	}
	if err := create(o.File, o.Text); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return &ExistsError{Path: o.File}
		}
		return fmt.Errorf("writing the configuration: %w", err)
	}
	return nil
}

// writeNew makes a file for its owner alone, and refuses to replace one.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		return errors.Join(err, f.Close(), os.Remove(path))
	}
	return f.Close()
}

// Forget removes what Write would write, for a command that writes nothing.
func (o *Outcome) Forget() {
	o.File, o.Passwords, o.User, o.Password, o.Next = "", nil, "", "", nil
}

// byVerdict are the tables of one, in their order.
func (o *Outcome) byVerdict(v propose.Verdict) []Table {
	return slices.DeleteFunc(slices.Clone(o.Tables), func(t Table) bool { return t.Verdict != v.String() })
}
