package sync

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// TestConfigIsValidated takes each thing away that has no default: it is named, and nothing
// else is.
func TestConfigIsValidated(t *testing.T) {
	t.Parallel()
	for what, take := range map[string]func(*Config){
		"Owner": func(c *Config) { c.Owner = nil }, "Reader": func(c *Config) { c.Reader = "" }, "Publication": func(c *Config) { c.Publication = "" },
		"Slot": func(c *Config) { c.Slot = "" }, "table": func(c *Config) { c.Tables = nil }, "": func(*Config) {},
	} {
		c := Config{Owner: &pgx.ConnConfig{}, Reader: "reader", Publication: "publication", Slot: "slot", Tables: []catalog.Publication{{}}}
		take(&c)
		err := c.validate()
		if (err == nil) != (what == "") || err != nil && (!strings.Contains(err.Error(), what) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("without %q: %v", what, err)
		}
	}
	if err := (&Config{}).validate(); err == nil || strings.Count(err.Error(), "\n") != 4 {
		t.Errorf("of nothing: %v", err)
	}
}

// TestConfigHasDefaults leaves everything away that need not be given, and then gives it.
func TestConfigHasDefaults(t *testing.T) {
	t.Parallel()
	var c Config
	_ = c.validate() // not all is given
	if since := time.Since(c.Now()); since < 0 || since > time.Minute || c.ranges.blocks != rangeBlocks || c.Heartbeat != DefaultHeartbeat || c.Logger == nil {
		t.Errorf("the defaults are %+v", c)
	}
	c.Progress(Progress{})
	c.Changed(Status{})
	c.Failpoint("any")
	c.Logger.Info("any")

	logger := c.Logger.With("mine", true)
	var told []string
	tell := func(what string) { told = append(told, what) }
	c = Config{
		Now: func() time.Time { return time.Unix(5, 0) }, ranges: readingPlan{blocks: 7, connections: 2}, Heartbeat: time.Hour,
		Progress: func(Progress) { tell("progress") }, Changed: func(Status) { tell("changed") }, Failpoint: tell, Logger: logger,
	}
	_ = c.validate()
	c.Progress(Progress{})
	c.Changed(Status{})
	c.Failpoint("point")
	if strings.Join(told, " ") != "progress changed point" || c.Now() != time.Unix(5, 0) || c.ranges != (readingPlan{7, 2}) || c.Heartbeat != time.Hour || c.Logger != logger {
		t.Errorf("what was given is %+v, and told %v", c, told)
	}
}
