package pool

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// pinnedNames are settings of the startup packet that are read back, as far as they are in it
// and in the form in which the server tells them.
var pinnedNames = []string{"search_path", "default_transaction_read_only"}

// unsetError are settings of the startup packet that the server does not have after login.
type unsetError struct{ settings []UnsetSetting }

// UnsetSetting is one of them, with its value and the one that was asked for.
type UnsetSetting struct{ Name, Is, Want string }

func (e *unsetError) Error() string {
	var told []string
	for _, s := range e.settings {
		told = append(told, fmt.Sprintf("%s is %q after login and not %q", s.Name, s.Is, s.Want))
	}
	return strings.Join(told, ", ") + ": " + errUnset.Error()
}

func (e *unsetError) Unwrap() error { return errUnset }

// unsetIn returns an error if what is pinned is not among the settings after login.
func unsetIn(pinned, settings map[string]string) error {
	var unset []UnsetSetting
	for _, name := range pinnedNames {
		if want, set := pinned[name]; set && !sameSetting(name, settings[name], want) {
			unset = append(unset, UnsetSetting{name, settings[name], want})
		}
	}
	if len(unset) == 0 {
		return nil
	}
	return &unsetError{unset}
}

// Unset are the settings for whose lack a connection was refused; none if it was not for that.
func Unset(err error) []UnsetSetting {
	unset := (*unsetError)(nil)
	if !errors.As(err, &unset) {
		return nil
	}
	return unset.settings
}

// sameSetting tells whether two values of a pinned setting mean the same. PostgreSQL shows a
// search_path as it was written, whether names in it are quoted or not.
func sameSetting(name, is, want string) bool {
	if name != "search_path" || is == want {
		return is == want
	}
	shown, understood := splitNames(is)
	wanted, pinned := splitNames(want)
	return understood && pinned && slices.Equal(shown, wanted)
}

// splitNames reads a list of names as PostgreSQL does. What is rare it does not understand:
// false, also for an empty list.
func splitNames(list string) (names []string, ok bool) {
	for rest := list; ; {
		name, after, ok := cutName(strings.TrimLeft(rest, blanks))
		if !ok {
			return nil, false
		}
		names = append(names, name)
		after = strings.TrimLeft(after, blanks)
		if after == "" {
			return names, true
		}
		if rest, ok = strings.CutPrefix(after, ","); !ok {
			return nil, false
		}
	}
}

// blanks are what PostgreSQL takes as space between names.
const blanks = " \t\n\r\f"

// cutName cuts the name off with which a list begins.
func cutName(list string) (name, rest string, ok bool) {
	if strings.HasPrefix(list, `"`) {
		return cutQuoted(list[1:])
	}
	end := strings.IndexFunc(list, func(r rune) bool { return !plain(r) })
	if end < 0 {
		end = len(list)
	}
	return strings.ToLower(list[:end]), list[end:], end > 0
}

// plain says of a character that a name may have it without quotes.
func plain(r rune) bool {
	return r == '_' || r == '$' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// cutQuoted cuts a name off whose first quote has been read. A quote within is written twice.
func cutQuoted(list string) (name, rest string, ok bool) {
	for {
		part, after, closed := strings.Cut(list, `"`)
		name += part
		if !closed {
			return "", "", false
		}
		if !strings.HasPrefix(after, `"`) {
			return name, after, name != ""
		}
		name, list = name+`"`, after[1:]
	}
}
