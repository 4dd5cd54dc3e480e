package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/observe"
)

// probingHere bounds the wait for the process of this machine.
const probingHere = 3 * time.Second

// withRefusal adds to the error of reading the state what a process of this machine says of its readers, if the
// configuration has probes and it answers: processes are else asked through the database.
func withRefusal(ctx context.Context, c *config.Config, err error) error {
	if c.Metrics.Listen == "" {
		return err
	}
	_, address, reachErr := reachable([]string{c.Metrics.Listen})
	if reachErr != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probingHere)
	defer cancel()
	r, requestErr := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
	if requestErr != nil {
		return err
	}
	answer, askErr := http.DefaultClient.Do(r)
	if askErr != nil {
		return err
	}
	defer answer.Body.Close()
	var h observe.Health
	if json.NewDecoder(answer.Body).Decode(&h) != nil || h.RefusedSince == nil {
		return err
	}
	return errors.Join(fmt.Errorf("readers are refused here since %s: %s", h.RefusedSince.Format(time.RFC3339), strings.Join(h.Reasons, "; ")), err)
}
