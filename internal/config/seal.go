package config

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/seal"
)

// Seal is where the keys are that seal the private store. Exactly one of its fields is set.
type Seal struct {
	KeyFile    string   `yaml:"key_file" as:"path" doc:"A file with keys, one on a line: 32 bytes in base64 or 64 hexadecimal digits. The first one seals, and the others open what was sealed with them."`
	KeyEnv     string   `yaml:"key_env" as:"variable" doc:"The environment variable that has such lines."`
	KeyCommand []string `yaml:"key_command" as:"literal" each:"a word of the command" fix:"a list: [/usr/local/bin/kproxy-keys, --store, hospital]" empty:"there is no command" doc:"A program with its arguments that prints such lines, as a list; no shell reads it."`
	// Keys are what was found in file or environment.
	Keys Secret `yaml:"key" refused:"a key must not stand in the file" fix:"write key_file:, key_env: or key_command:"`
}

// IsSet reports whether the private store is to be sealed.
func (s Seal) IsSet() bool { return s.KeyFile != "" || s.KeyEnv != "" || len(s.KeyCommand) > 0 }

func (s *Seal) check(d *decoder, n *yaml.Node, _ string) {
	ways := 0
	for _, has := range []bool{s.KeyFile != "", s.KeyEnv != "", len(s.KeyCommand) > 0} {
		if has {
			ways++
		}
	}
	if ways != 1 {
		d.wrong(n, fmt.Sprintf("seal has %d of key_file, key_env and key_command", ways), "write one of them")
		return
	}
	if d.around == nil {
		return
	}
	var text []byte
	var at *yaml.Node
	switch {
	case s.KeyFile != "":
		var ok bool
		at = d.at(&s.KeyFile)
		if text, ok = d.contents(at, "key_file", s.KeyFile); !ok {
			return
		}
	case s.KeyEnv != "":
		at = d.at(&s.KeyEnv)
		value, set := d.around.lookupEnv(s.KeyEnv)
		if !set {
			d.wrong(at, "environment variable "+s.KeyEnv+" is not set", "set it before kproxy starts, or use key_file")
			return
		}
		text = []byte(value)
	default:
		return // the command runs where keys are needed
	}
	if _, err := seal.ParseRing(text); err != nil {
		d.wrong(at, "the keys of seal cannot be read: "+err.Error(), "write one key on each line; `openssl rand -base64 32` makes one")
		return
	}
	s.Keys = NewSecret(string(text))
}

// keyCommandTime is how long a command for keys may take, and maxKeyBytes how much it may print.
const (
	keyCommandTime = 30 * time.Second
	maxKeyBytes    = 1 << 16
)

// Ring is the keys; nil where the private store is not to be sealed. It runs the command, if there is
// one. The error tells nothing of what that has printed.
func (s Seal) Ring(ctx context.Context) (*seal.Ring, error) {
	text := []byte(s.Keys.Reveal())
	switch {
	case !s.IsSet():
		return nil, nil
	case len(s.KeyCommand) > 0:
		ctx, cancel := context.WithTimeout(ctx, keyCommandTime)
		defer cancel()
		var out bytes.Buffer
		command := exec.CommandContext(ctx, s.KeyCommand[0], s.KeyCommand[1:]...)
		command.Stdout, command.WaitDelay = &out, time.Second
		if err := command.Run(); err != nil {
			return nil, fmt.Errorf("release.seal.key_command: %w", err)
		}
		if text = out.Bytes(); len(text) > maxKeyBytes {
			return nil, fmt.Errorf("release.seal.key_command has printed more than %d bytes", maxKeyBytes)
		}
	}
	ring, err := seal.ParseRing(text)
	if err != nil {
		return nil, fmt.Errorf("the keys of release.seal cannot be read: %w", err)
	}
	return ring, nil
}

// compareSeal has the private store of all tables sealed, and refuses what cannot be as a whole.
func (f *file) compareSeal(d *decoder) {
	s := &f.Release.Seal
	if !s.IsSet() {
		return
	}
	at := d.at(s)
	if !f.IsApart() {
		d.wrong(at, "seal seals the private store, and there is no source section: the rows are in the same database as they are", "remove seal, or move the release into a database of its own; see docs/apart.md")
	}
	SealPolicy(&f.Policy, true)
	for _, u := range unsealable(f.Policy) {
		d.wrong(at, u.what, "remove seal, or "+u.fix)
	}
}

// SealPolicy has the private store of all tables of a policy sealed, or of none.
func SealPolicy(policy *catalog.Policy, sealed bool) {
	for i := range policy.Tables {
		policy.Tables[i].Sealed = sealed
	}
}

// CheckSealed refuses a policy whose private store is sealed and cannot be. That of a file has been compared with its
// release.seal; another one is that of a running process.
func CheckSealed(policy catalog.Policy) error {
	if !slices.ContainsFunc(policy.Tables, func(t catalog.TablePolicy) bool { return t.Sealed }) {
		return nil
	}
	if found := unsealable(policy); len(found) > 0 {
		return fmt.Errorf("%s (fix: restart kproxy without release.seal, or %s)", found[0].what, found[0].fix)
	}
	return nil
}

// unsealed is what cannot be sealed.
type unsealed struct{ what, fix string }

func unsealable(policy catalog.Policy) (found []unsealed) {
	for _, kind := range policy.People {
		found = append(found, unsealed{"the private store of people " + kind.Kind + " cannot be sealed yet", "remove the kind of person"})
	}
	if len(policy.Audiences) > 0 {
		found = append(found, unsealed{"the private store of tables with audiences cannot be sealed yet", "remove audiences"})
	}
	for _, t := range policy.Tables {
		switch {
		case policy.IsMember(t.Table):
		case t.Subject != "":
			found = append(found, unsealed{fmt.Sprintf("the private store of table %s has a subject, and cannot be sealed yet", t.Table), "remove subject"})
		case t.Summary == catalog.SummaryStored:
			found = append(found, unsealed{fmt.Sprintf("the private store of table %s has a stored summary, and cannot be sealed yet", t.Table), "remove summary"})
		}
	}
	return found
}
