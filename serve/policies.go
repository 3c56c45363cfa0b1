package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bouncer-mcp/bouncer/packs"
	"github.com/bouncer-mcp/bouncer/policy"
)

func (s *service) addPolicyTools(to *mcp.Server) error {
	return errors.Join(
		add(to, tool{
			name: "bouncer_verify_policy", title: "Check the text of a policy",
			about: "Reads the text of a bouncer policy (YAML) and says what is wrong with it, with line and column, and what is allowed and probably not meant. Nothing is stored.",
		}, s.verifyPolicy),
		add(to, tool{
			name: "bouncer_get_active_policies", title: "List the policies that are in force",
			about: "Lists the policies that calls are judged by, highest first: the person's own files, then the packs that come with bouncer. With pack_name only the packs whose names hold it, each with its text.",
		}, s.activePolicies),
	)
}

type verifyInput struct {
	Text string `json:"policy_yaml" jsonschema:"the policy, as it would stand in a file"`
}

type verifyOutput struct {
	Valid    bool      `json:"valid" jsonschema:"whether bouncer would load it"`
	Rules    int       `json:"rules_count" jsonschema:"how many tools and patterns of tools it has rules for"`
	Tools    []string  `json:"tools_covered" jsonschema:"their names"`
	Error    string    `json:"error,omitempty" jsonschema:"the first fault, in words"`
	Faults   []problem `json:"errors" jsonschema:"why it would not load"`
	Warnings []problem `json:"warnings" jsonschema:"what is allowed and probably not meant"`
}

type problem struct {
	Line    int    `json:"line,omitempty" jsonschema:"from 1; absent when the whole text is meant"`
	Column  int    `json:"column,omitempty" jsonschema:"from 1"`
	Code    string `json:"code" jsonschema:"invalid, or the kind of the warning"`
	Message string `json:"message" jsonschema:"what is wrong"`
}

func (s *service) verifyPolicy(_ context.Context, _ call, in verifyInput) (verifyOutput, *question, error) {
	out := verifyOutput{Tools: []string{}, Faults: []problem{}, Warnings: []problem{}}
	layer, err := policy.Parse(givenPolicy, []byte(in.Text))
	for _, f := range faults(err) {
		out.Faults = append(out.Faults, problem{f.Line, f.Col, "invalid", f.Msg})
	}
	if err != nil {
		out.Error = faults(err)[0].Error()
		return out, nil, nil
	}
	out.Valid, out.Tools = true, append(out.Tools, layer.Tools()...)
	out.Rules = len(out.Tools)
	warnings := policy.Check(append([]*policy.Layer{layer}, packs.All()...)...)
	if known, err := s.Recorded(); err == nil { // without them there is less to warn of
		configured, _ := s.Servers() // nor does it matter here that a config can't be read
		for name, found := range known {
			for _, r := range Current(name, found, configured) {
				set := policy.NewSet(layer).For(policy.Server{Name: name, Package: r.Package})
				warnings = append(warnings, policy.CheckTools(set, r.Tools)...)
			}
		}
	}
	for _, w := range append(warnings, policy.CheckServers(s.serverNames(), layer)...) {
		p := problem{w.Line, w.Col, w.Code, w.Msg}
		if !slices.Contains(out.Warnings, p) {
			out.Warnings = append(out.Warnings, p)
		}
	}
	slices.SortStableFunc(out.Warnings, func(a, b problem) int {
		return slices.Compare([]int{a.Line, a.Column}, []int{b.Line, b.Column})
	})
	return out, nil, nil
}

// givenPolicy names a policy that came as an argument.
const givenPolicy = "policy_yaml"

// faults returns what keeps a policy from loading; at least one for any error.
func faults(err error) []*policy.Error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*policy.Error
		for _, e := range joined.Unwrap() {
			all = append(all, faults(e)...)
		}
		return all
	}
	if f, ok := errors.AsType[*policy.Error](err); ok {
		return []*policy.Error{f}
	}
	return []*policy.Error{{File: givenPolicy, Msg: err.Error()}}
}

type activeInput struct {
	Name string `json:"pack_name,omitempty" jsonschema:"part of the name of a pack; without it everything is listed"`
}

type activeOutput struct {
	Own   []ownPolicy `json:"own" jsonschema:"the person's own policies, highest first"`
	Packs []pack      `json:"packs" jsonschema:"the policies that come with bouncer; each holds for the servers that it names"`
}

type ownPolicy struct {
	File    string   `json:"file"`
	Profile string   `json:"profile,omitempty" jsonschema:"that the file chooses"`
	Tools   []string `json:"tools" jsonschema:"what it has rules for"`
}

type pack struct {
	Name    string       `json:"name"`
	URI     string       `json:"uri" jsonschema:"of the resource with its text"`
	Summary string       `json:"summary" jsonschema:"what it guards"`
	Servers []packServer `json:"servers" jsonschema:"what it was written for"`
	Tools   []string     `json:"tools" jsonschema:"what it has rules for"`
	Text    string       `json:"policy_yaml,omitempty" jsonschema:"its text"`
}

type packServer struct {
	Package string `json:"package"`
	Version string `json:"version,omitempty"`
	Checked string `json:"checked,omitempty" jsonschema:"the day"`
}

func (s *service) activePolicies(_ context.Context, _ call, in activeInput) (activeOutput, *question, error) {
	out := activeOutput{Own: []ownPolicy{}, Packs: []pack{}}
	for _, name := range packs.Names() {
		if !strings.Contains(name, strings.ToLower(in.Name)) {
			continue
		}
		p, err := packOf(name)
		if err != nil {
			return out, nil, err
		}
		if in.Name == "" {
			p.Text = ""
		}
		out.Packs = append(out.Packs, p)
	}
	if in.Name != "" {
		return out, nil, nil
	}
	layers, err := s.Policies()
	if err != nil {
		return out, nil, err
	}
	for _, l := range layers {
		out.Own = append(out.Own, ownPolicy{l.Name, l.Profile, append([]string{}, l.Tools()...)})
	}
	return out, nil, nil
}

// packOf describes a pack, with its text.
func packOf(name string) (pack, error) {
	text, ok := packs.Source(name)
	if !ok {
		return pack{}, fmt.Errorf("there is no pack %q", name)
	}
	l, err := policy.ParsePack(name, text)
	if err != nil {
		return pack{}, err
	}
	p := pack{Name: name, URI: packURI + name, Summary: l.Header().Summary, Servers: []packServer{}, Tools: append([]string{}, l.Tools()...), Text: string(text)}
	for _, v := range l.Header().Servers {
		p.Servers = append(p.Servers, packServer{v.Package, v.Version, v.Checked})
	}
	return p, nil
}

// layered puts the packs below some layers.
func layered(layers []*policy.Layer) *policy.Set {
	return policy.NewSet(slices.Concat(layers, packs.All())...)
}
