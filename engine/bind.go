package engine

import (
	"github.com/bouncer-mcp/bouncer/policy"
)

// Bind returns a set as it holds for one server, and the profile that calls to it are judged under: the one that the command
// line names counts most, then the policy's, and without any it is balanced. The policy may have another one for a tool,
// unless the command line has one.
func Bind(set *policy.Set, of policy.Server, profile string) (*policy.Set, Profile) {
	set = set.For(of).Under(profile)
	return set, profileNamed(set.Profile(), Balanced)
}

// profileNamed is the profile of a name, or else the other one.
func profileNamed(name string, otherwise Profile) Profile {
	switch name {
	case policy.ProfileStrict:
		return Strict
	case policy.ProfileBalanced:
		return Balanced
	}
	return otherwise
}

// profile is what this call is judged under.
func (j *judgement) profile() Profile { return profileNamed(j.rule.Profile, j.config.Profile) }
