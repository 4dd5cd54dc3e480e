package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestSecretIsNeverPrinted(t *testing.T) {
	t.Parallel()
	secret := NewSecret("hunter2")
	hidden := struct{ inner struct{ s Secret } }{}
	hidden.inner.s = secret
	marshaled, err := json.Marshal(map[string]any{"a": secret, "b": &secret})
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("connecting", "password", secret, "group", slog.GroupValue(slog.Any("p", &secret)))
	slog.New(slog.NewJSONHandler(&log, nil)).Info("connecting", "password", secret, "all", hidden)
	texts := []string{string(marshaled), log.String(), secret.String(), secret.GoString(), fmt.Errorf("with %w %v", errShown, secret).Error()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p", "%t"} {
		texts = append(texts, fmt.Sprintf(verb, secret), fmt.Sprintf(verb, &secret), fmt.Sprintf(verb, hidden), fmt.Sprintf(verb, []Secret{secret}))
	}
	for _, text := range texts {
		if strings.Contains(text, "hunter2") || strings.Contains(strings.ToLower(text), fmt.Sprintf("%x", "hunter2")) {
			t.Errorf("printed: %s", text)
		}
	}
	if secret.Reveal() != "hunter2" || !secret.IsSet() {
		t.Error("the secret is lost")
	}
	if none := (Secret{}); none.Reveal() != "" || none.IsSet() || none.String() != "" {
		t.Error("no secret is one")
	}
}

var errShown = fmt.Errorf("an error")
