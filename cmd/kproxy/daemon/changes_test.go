package daemon

import (
	"log/slog"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/config"
)

func table(relation string, k int) catalog.TablePolicy {
	return catalog.TablePolicy{Table: catalog.Name{Schema: "public", Relation: relation}, Constraints: []privacy.Spec{{K: k}}}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	running := &config.Config{Listen: []string{":1"}, Policy: catalog.Policy{Tables: []catalog.TablePolicy{table("a", 5), table("b", 5), table("c", 5)}}}
	if c := compare(running, running); !c.Empty() || c.String() != "nothing changed" {
		t.Errorf("nothing changed, but: %s", c)
	}
	next := *running
	next.Policy.Tables = []catalog.TablePolicy{table("d", 5), table("c", 5), table("a", 6)}
	next.Listen, next.Log.Level, next.Slot = []string{":2"}, slog.LevelDebug, "another"
	next.Users = []config.User{{Name: "ann", Verifier: config.NewSecret("x")}}
	const want = "added: public.d\nchanged: public.a\nremoved: public.b\nsettings: users, log.level\nat the next start only: listen, slot"
	if got := compare(running, &next).String(); got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
	effective := takeover(running, &next)
	if effective.Listen[0] != ":1" || effective.Slot != "" || effective.Log.Level != slog.LevelDebug || len(effective.Users) != 1 || len(effective.Policy.Tables) != 3 {
		t.Errorf("taken over is %+v", effective)
	}
	if next.Listen[0] != ":2" {
		t.Error("the new configuration was changed")
	}
	// What waits for the next start is told at every reload.
	if got := compare(effective, &next); !slices.Equal(got.Restart, []string{"listen", "slot"}) || got.tables() != 0 || len(got.Settings) != 0 {
		t.Errorf("after it was taken over: %s", got)
	}
}

// TestEverySettingIsCompared sets each field of a configuration, at every depth, to
// something else.
func TestEverySettingIsCompared(t *testing.T) {
	t.Parallel()
	var c config.Config
	var visit func(path string, v reflect.Value)
	visit = func(path string, v reflect.Value) {
		if v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[config.Secret]() {
			for i := range v.NumField() {
				if field := v.Type().Field(i); field.IsExported() {
					visit(path+"."+field.Name, v.Field(i))
				}
			}
			return
		}
		before := reflect.New(v.Type()).Elem()
		before.Set(v)
		defer v.Set(before)
		switch v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Int, reflect.Int64:
			v.SetInt(int64(time.Hour))
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Uint32:
			v.SetUint(0o700)
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		case reflect.Struct:
			v.Set(reflect.ValueOf(config.NewSecret("x")))
		default:
			t.Fatalf("%s is a %s", path, v.Kind())
		}
		if compare(&config.Config{}, &c).Empty() {
			t.Errorf("a change of %s is not seen", path)
		}
	}
	visit("config", reflect.ValueOf(&c).Elem())
}
