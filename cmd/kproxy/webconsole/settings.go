package webconsole

import (
	"fmt"
	"io/fs"
	"log/slog"
	"reflect"
	"strings"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/settings"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/console"
	"github.com/kproxy/kproxy/internal/units"
)

// listSettings returns the settings of a configuration, except the tables' policies. It derives them
// from the fields, so that none can be forgotten. It recognizes secrets by type.
func listSettings(c *config.Config) []console.Section {
	general := console.Section{Name: "general"}
	var sections []console.Section
	all := reflect.ValueOf(*c)
	for i := range all.NumField() {
		field := all.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		key, value := keyOf(field), all.Field(i)
		if value.Kind() != reflect.Struct {
			general.Settings = append(general.Settings, settingsOf(key, value)...)
			continue
		}
		if key == "policy" {
			key = "readable and functions"
		}
		sections = append(sections, console.Section{Name: key, Settings: settingsOf("", value)})
	}
	return append([]console.Section{general}, sections...)
}

// keyOf returns the key of a field in the file, empty for one whose keys stand beside the others.
func keyOf(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
	_, _, inline := strings.Cut(field.Tag.Get("yaml"), ",inline")
	switch {
	case name != "" && name != "-":
		return name
	case inline:
		return ""
	default:
		return settings.Key(field.Name)
	}
}

// settingsOf returns the settings of a value, each under a key with the given prefix.
func settingsOf(key string, v reflect.Value) []console.Setting {
	if text, plain := settingText(v); plain {
		return []console.Setting{{Key: key, Value: text}}
	}
	var list []console.Setting
	switch v.Kind() {
	case reflect.Struct:
		_, policies := v.Interface().(catalog.Policy)
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if field.IsExported() && (!policies || field.Name != "Tables") { // those stand on the tables' pages
				within := key
				if own := keyOf(field); own != "" {
					within = settings.Within(key, own)
				}
				list = append(list, settingsOf(within, v.Field(i))...)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			list = append(list, settingsOf(fmt.Sprintf("%s %d", key, i+1), v.Index(i))...)
		}
		if v.Len() == 0 {
			list = append(list, console.Setting{Key: key})
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return settingsOf(key, v.Elem())
		}
		list = append(list, console.Setting{Key: key})
	}
	return list
}

// settingText returns the text of a single value, or false for a value with parts.
func settingText(v reflect.Value) (string, bool) {
	switch t := v.Interface().(type) {
	case config.Secret:
		if t.IsSet() {
			return "set, not shown", true
		}
		return "", true
	case time.Duration:
		return settings.Duration(t), true
	case int64:
		return units.Bytes(t), true // only sizes are of this type
	case slog.Level:
		return strings.ToLower(t.String()), true
	case fs.FileMode:
		return fmt.Sprintf("%04o", t.Perm()), true
	case fmt.Stringer:
		return t.String(), true
	}
	switch v.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Uint64, reflect.Float64:
		return fmt.Sprint(v.Interface()), true
	case reflect.Slice:
		if v.Len() == 0 {
			return "", false
		}
		var parts []string
		for i := range v.Len() {
			text, plain := settingText(v.Index(i))
			if !plain {
				return "", false
			}
			parts = append(parts, text)
		}
		return strings.Join(parts, ", "), true
	}
	return "", false
}
