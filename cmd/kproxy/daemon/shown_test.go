package daemon

import (
	"fmt"
	"testing"

	"github.com/kproxy/kproxy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/status"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/state"
)

// TestConditionsAreOfTheProcess: metrics, console and other processes go by them.
func TestConditionsAreOfTheProcess(t *testing.T) {
	t.Parallel()
	d := New(exampleConfig(t), Options{})
	if d.conditions() != nil || len(d.unserved()) != 0 {
		t.Error("a process that has not begun knows of tables")
	}
	for _, table := range d.config().Policy.Tables {
		d.served.publications = append(d.served.publications, catalog.Publication{Policy: table})
	}
	if err := d.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	name := d.config().Policy.Tables[0].Table
	now := func() string { return d.observedState().Tables[0].State }
	if now() != status.StateUnpublished || len(d.unserved()) != 0 {
		t.Errorf("at first it is %s; not served are %v", now(), d.unserved())
	}
	d.served.broken = map[catalog.Name]inspect.Report{name: {{What: "a column is gone", Fix: "mend it"}}}
	d.resolve(nil)
	if now() != state.Withdrawn || fmt.Sprint(d.unserved()) != "["+name.String()+"]" || d.conditions()[name].Problem != "a column is gone" {
		t.Errorf("then it is %s, %+v; not served are %v", now(), d.conditions()[name], d.unserved())
	}
	if d.served.withdrawn[name] == "" || d.shown.tables.Load() != 0 {
		t.Error("readers get what is withdrawn")
	}
}

func exampleConfig(t *testing.T) *config.Config {
	t.Helper()
	c, err := config.Parse("config.example.yaml", kproxy.ExampleConfig)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
