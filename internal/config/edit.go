package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Errors of editing.
var (
	ErrUserExists  = errors.New("there is a user of that name")
	ErrUserMissing = errors.New("there is no user of that name")
	// ErrByHand says that the file is written in a way that is not changed by program:
	// nothing is then changed.
	ErrByHand = errByHand
)

// Setting is a key with its value, or with several.
type Setting struct {
	Key    string
	Values []string
}

// UserYAML is the entry of a user, for an operator to put under users.
func UserYAML(entry []Setting) string { return strings.Join(blockEntry(entry, 2), "\n") + "\n" }

// AddUser writes a user into a configuration's text, behind the others: Entry is the keys
// with name first. Comments, order and form of all else stay as they are. The error is
// ErrUserExists, ErrByHand, or that the text is no YAML.
func AddUser(text []byte, entry []Setting) ([]byte, error) {
	m, err := newManuscript(text)
	if err != nil {
		return nil, err
	}
	if _, at := m.user(entry[0].Values[0]); at >= 0 {
		return nil, ErrUserExists
	}
	changed, err := m.appendTo("users", entry)
	if err != nil {
		return nil, err
	}
	return m.proven(changed, func(before map[string]any) {
		users, _ := before["users"].([]any)
		before["users"] = append(slices.Clone(users), plainEntry(entry))
	})
}

// AddRule writes a rule behind those of access, which must have some: the first rule there
// is would shut out everybody else. The error is ErrByHand, or tells what is missing.
func AddRule(text []byte, entry []Setting) ([]byte, error) {
	m, err := newManuscript(text)
	if err != nil {
		return nil, err
	}
	if _, rules := m.value("access"); rules == nil || len(rules.Content) == 0 && rules.Kind != yaml.AliasNode {
		return nil, errors.New("the configuration has no access rules, so that everybody may log in by a password from everywhere: the first rule would shut out all others")
	}
	changed, err := m.appendTo("access", entry)
	if err != nil {
		return nil, err
	}
	return m.proven(changed, func(before map[string]any) {
		rules, _ := before["access"].([]any)
		before["access"] = append(slices.Clone(rules), plainEntry(entry))
	})
}

// RemoveUser takes a user out of a configuration's text. The error is ErrUserMissing,
// ErrByHand, or that the text is no YAML.
func RemoveUser(text []byte, name string) ([]byte, error) {
	m, err := newManuscript(text)
	if err != nil {
		return nil, err
	}
	users, at := m.user(name)
	if at < 0 {
		return nil, ErrUserMissing
	}
	changed, err := m.removeFrom(users, at)
	if err != nil {
		return nil, err
	}
	return m.proven(changed, func(before map[string]any) {
		list, _ := before["users"].([]any)
		before["users"] = slices.Delete(slices.Clone(list), at, at+1)
	})
}

// SetVerifier gives a user another verifier. The error is as of RemoveUser.
func SetVerifier(text []byte, name, verifier string) ([]byte, error) {
	m, err := newManuscript(text)
	if err != nil {
		return nil, err
	}
	users, at := m.user(name)
	if at < 0 {
		return nil, ErrUserMissing
	}
	changed, err := m.setIn(users.Content[at], verifier)
	if err != nil {
		return nil, err
	}
	return m.proven(changed, func(before map[string]any) {
		list, _ := before["users"].([]any)
		if u, ok := list[at].(map[string]any); ok {
			u["verifier"] = verifier
		}
	})
}

// user finds a user; at is negative if there is none.
func (m *manuscript) user(name string) (users *yaml.Node, at int) {
	_, users = m.value("users")
	if users == nil {
		return nil, -1
	}
	if users.Kind == yaml.AliasNode {
		users = users.Alias
	}
	return users, slices.IndexFunc(users.Content, func(n *yaml.Node) bool {
		u, _ := flat(n, new(int)).(map[string]any)
		return u["name"] == name
	})
}

// appendTo writes an entry behind those of a list.
func (m *manuscript) appendTo(name string, entry []Setting) ([]byte, error) {
	key, list := m.value(name)
	switch {
	case list == nil:
		before := ""
		if len(m.text) > 0 && m.text[len(m.text)-1] != '\n' {
			before = m.newline
		}
		lines := append([]string{name + ":"}, blockEntry(entry, 2)...)
		return m.with(len(m.text), len(m.text), before+strings.Join(lines, m.newline)+m.newline), nil
	case list.Kind == yaml.ScalarNode && (list.Value == "" || list.Tag == "!!null"):
		return m.appendToNothing(key, list, entry)
	case list.Kind != yaml.SequenceNode:
		return nil, byHand("%s on line %d is %s", name, key.Line, kindOf(list))
	case list.Style&yaml.FlowStyle != 0:
		return m.appendToFlow(list, entry)
	}
	last := list.Content[len(list.Content)-1]
	_, indent, err := m.dash(last)
	if err != nil {
		return nil, err
	}
	end, err := m.end(last)
	if err != nil {
		return nil, err
	}
	end = m.past(end, indent)
	return m.with(end, end, m.newline+strings.Join(blockEntry(entry, indent), m.newline)), nil
}

// appendToNothing begins a list at a key that has none.
func (m *manuscript) appendToNothing(key, nothing *yaml.Node, entry []Setting) ([]byte, error) {
	at, err := m.end(key)
	if err != nil {
		return nil, err
	}
	lines := m.newline + strings.Join(blockEntry(entry, 2), m.newline)
	if nothing.Value == "" {
		at = m.lineEnd(at)
		return m.with(at, at, lines), nil
	}
	from, err := m.offset(nothing)
	if err != nil {
		return nil, err
	}
	to := from + len(nothing.Value)
	end := m.lineEnd(to)
	return m.with(from, end, strings.TrimLeft(string(m.text[to:end]), " ")+lines), nil
}

func (m *manuscript) appendToFlow(list *yaml.Node, entry []Setting) ([]byte, error) {
	text := flowEntry(entry)
	if len(list.Content) == 0 {
		at, err := m.start(list)
		return m.with(at+1, at+1, text), err
	}
	end, err := m.end(list.Content[len(list.Content)-1])
	if err != nil {
		return nil, err
	}
	return m.with(end, end, ", "+text), nil
}

// removeFrom takes an entry out of a list.
func (m *manuscript) removeFrom(list *yaml.Node, i int) ([]byte, error) {
	entry := list.Content[i]
	end, err := m.end(entry)
	if err != nil {
		return nil, err
	}
	if list.Style&yaml.FlowStyle != 0 {
		return m.removeFromFlow(list, i, end)
	}
	from, indent, err := m.dash(entry)
	if err != nil {
		return nil, err
	}
	from -= indent
	to := m.nextLine(m.past(end, indent))
	if len(list.Content) > 1 {
		return m.with(from, to, ""), nil
	}
	// Without entries the list has to be said to be one.
	key, _ := m.value("users")
	at, err := m.end(key)
	if err != nil {
		return nil, err
	}
	at += len(":")
	return slices.Concat(m.text[:at], []byte(" []"), m.text[at:from], m.text[to:]), nil
}

func (m *manuscript) removeFromFlow(list *yaml.Node, i, end int) ([]byte, error) {
	from, err := m.offset(list.Content[i])
	if err != nil {
		return nil, err
	}
	switch {
	case i > 0:
		from, err = m.end(list.Content[i-1])
	case len(list.Content) > 1:
		end, err = m.offset(list.Content[1])
	}
	if err != nil {
		return nil, err
	}
	return m.with(from, end, ""), nil
}

// setIn gives the entry of a user a verifier.
func (m *manuscript) setIn(user *yaml.Node, verifier string) ([]byte, error) {
	if user.Kind != yaml.MappingNode {
		return nil, byHand("the user on line %d is %s", user.Line, kindOf(user))
	}
	flow := user.Style&yaml.FlowStyle != 0
	text := verifier
	if flow {
		text = written(verifier, plainValue)
	}
	if _, old := entryOf(user, "verifier"); old != nil {
		from, err := m.start(old)
		if err != nil {
			return nil, err
		}
		to, err := m.end(old)
		if err != nil {
			return nil, err
		}
		if old.Value == "" && old.Style == 0 && old.Kind == yaml.ScalarNode {
			text = " " + text
		}
		return m.with(from, to, text), nil
	}
	key, name := entryOf(user, "name")
	end, err := m.end(name)
	if err != nil {
		return nil, err
	}
	if flow {
		return m.with(end, end, ", verifier: "+text), nil
	}
	end = m.lineEnd(end)
	return m.with(end, end, m.newline+strings.Repeat(" ", key.Column-1)+"verifier: "+text), nil
}

// proven is the changed text, once it is known that it says what the text before said,
// with what change makes of it, and nothing else.
func (m *manuscript) proven(changed []byte, change func(map[string]any)) ([]byte, error) {
	want, ok := flat(m.root, new(int)).(map[string]any)
	if !ok {
		return nil, byHand("it unfolds to too much")
	}
	change(want)
	d := newDecoder("", nil)
	root := d.document(changed)
	if root == nil || len(d.problems) > 0 || !reflect.DeepEqual(flat(root, new(int)), any(want)) {
		return nil, byHand("the change would not be that one alone")
	}
	return changed, nil
}

// flat is a node without aliases and form: mappings, lists and texts. What is too much is
// nil.
func flat(n *yaml.Node, visited *int) any {
	if *visited++; *visited > maxEntries {
		return nil
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			m[n.Content[i].Value] = flat(n.Content[i+1], visited)
		}
		return m
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range n.Content {
			list = append(list, flat(item, visited))
		}
		return list
	}
	return n.Value
}

// plainEntry is an entry as flat makes it.
func plainEntry(entry []Setting) map[string]any {
	m := make(map[string]any, len(entry))
	for _, s := range entry {
		if len(s.Values) == 1 {
			m[s.Key] = s.Values[0]
			continue
		}
		list := []any{}
		for _, v := range s.Values {
			list = append(list, v)
		}
		m[s.Key] = list
	}
	return m
}

// blockEntry is an entry on lines of its own.
func blockEntry(entry []Setting, indent int) []string {
	var lines []string
	for i, s := range entry {
		lead := strings.Repeat(" ", indent) + "  "
		if i == 0 {
			lead = strings.Repeat(" ", indent) + "- "
		}
		value := s.flow()
		if s.Key == "verifier" {
			value = s.Values[0] // as `kproxy password` prints it: nothing in it needs quotes on a line
		}
		lines = append(lines, lead+s.Key+": "+value)
	}
	return lines
}

func flowEntry(entry []Setting) string {
	var parts []string
	for _, s := range entry {
		parts = append(parts, s.Key+": "+s.flow())
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (s Setting) flow() string {
	plain := plainValue
	if s.Key == "name" {
		plain = plainWord
	}
	var values []string
	for _, v := range s.Values {
		values = append(values, written(v, plain))
	}
	if len(values) == 1 {
		return values[0]
	}
	return fmt.Sprintf("[%s]", strings.Join(values, ", "))
}
