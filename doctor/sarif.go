package doctor

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// The parts of SARIF 2.1.0 (OASIS) that findings fill.
type (
	// Log is a SARIF file.
	Log struct {
		Schema  string `json:"$schema"`
		Version string `json:"version"`
		Runs    []Run  `json:"runs"`
	}
	// Run is what one tool found.
	Run struct {
		Tool    SarifTool `json:"tool"`
		Results []Result  `json:"results"`
	}
	// SarifTool names the tool.
	SarifTool struct {
		Driver Driver `json:"driver"`
	}
	// Driver is the tool's main part.
	Driver struct {
		Name    string     `json:"name"`
		Version string     `json:"version"`
		Rules   []RuleInfo `json:"rules"`
	}
	// RuleInfo describes one code.
	RuleInfo struct {
		ID          string `json:"id"`
		Description Text   `json:"shortDescription"`
		Default     Config `json:"defaultConfiguration"`
	}
	// Config holds a rule's usual level.
	Config struct {
		Level string `json:"level"`
	}
	// Text is a message.
	Text struct {
		Text string `json:"text"`
	}
	// Result is one finding.
	Result struct {
		RuleID    string     `json:"ruleId"`
		RuleIndex int        `json:"ruleIndex"`
		Level     string     `json:"level"`
		Message   Text       `json:"message"`
		Locations []Location `json:"locations,omitempty"`
	}
	// Location is where it was found.
	Location struct {
		Physical Physical `json:"physicalLocation"`
	}
	// Physical is a place in a file.
	Physical struct {
		Artifact Artifact `json:"artifactLocation"`
		Region   *Region  `json:"region,omitempty"`
	}
	// Artifact is a file.
	Artifact struct {
		URI string `json:"uri"`
	}
	// Region is a place in it.
	Region struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
	}
)

// SARIF puts findings into the form that code scanners exchange. Files below dir are named relative to it, as those who show
// findings beside the lines of a repository want them.
func SARIF(found []Finding, dir, version string) Log {
	checks := Checks()
	driver := Driver{Name: "bouncer doctor", Version: version}
	for _, c := range checks {
		driver.Rules = append(driver.Rules, RuleInfo{c.Code, Text{c.About}, Config{level(c.Severities[0])}})
	}
	results := []Result{}
	for _, f := range found {
		r := Result{
			RuleID:    f.Code,
			RuleIndex: slices.IndexFunc(checks, func(c Check) bool { return c.Code == f.Code }),
			Level:     level(f.Severity),
			Message:   Text{f.sentence()},
		}
		if f.File != "" {
			place := Physical{Artifact: Artifact{fileURI(f.File, dir)}}
			if f.Line > 0 {
				place.Region = &Region{f.Line, f.Column}
			}
			r.Locations = []Location{{place}}
		}
		results = append(results, r)
	}
	return Log{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs:    []Run{{SarifTool{driver}, results}},
	}
}

// sentence is a finding in one text.
func (f Finding) sentence() string {
	s := f.Message
	if f.Server != "" || f.Scope != "" {
		s = "server " + quote(f.Server) + " " + s
	}
	if f.Client != "" {
		s = f.Client + ": " + s
	}
	if f.Repair != "" {
		s += ". Repair: " + f.Repair
	}
	return s
}

func level(s Severity) string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	}
	return "note"
}

// fileURI names a file, relative to dir when it lies below it.
func fileURI(file, dir string) string {
	if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
		return (&url.URL{Path: filepath.ToSlash(rel)}).EscapedPath()
	}
	path := filepath.ToSlash(file)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/...
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
