package main

// The part of CycloneDX 1.6 that a bill of a program needs (ECMA-424).
type (
	bill struct {
		Format       string       `json:"bomFormat"`
		SpecVersion  string       `json:"specVersion"`
		Serial       string       `json:"serialNumber"`
		Version      int          `json:"version"` // of the bill
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}

	metadata struct {
		Timestamp string    `json:"timestamp"` // RFC 3339
		Component component `json:"component"` // what the bill is of
	}

	component struct {
		Type       string     `json:"type"` // application or library
		Reference  string     `json:"bom-ref"`
		Name       string     `json:"name"`
		Version    string     `json:"version,omitempty"`
		PURL       string     `json:"purl"` // package URL
		Hashes     []hash     `json:"hashes,omitempty"`
		Licenses   []choice   `json:"licenses,omitempty"`
		Properties []property `json:"properties,omitempty"`
	}

	choice struct {
		License license `json:"license"`
	}

	license struct {
		ID string `json:"id"` // SPDX's
	}

	hash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"` // hexadecimal
	}

	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}

	dependency struct {
		Reference string   `json:"ref"`
		On        []string `json:"dependsOn,omitempty"`
	}
)
