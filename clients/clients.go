// Package clients says which MCP clients exist, where their configs live and where the servers are inside: data.
package clients

import "github.com/bouncer-mcp/bouncer/internal/jsonc"

// Scope is a config's scope in the client's own words.
type Scope string

// The scopes of the clients known so far.
const (
	User    Scope = "user"
	Local   Scope = "local"
	Project Scope = "project"
)

// Client is one MCP client.
type Client struct {
	ID      string
	Name    string
	Configs []Config
	Sources []Source
	Order   []Scope // of servers with one name in several scopes the client starts that of the first; nil: it starts them all
	Start   Start
	Reload  string  // how a person makes the client read its config again, one sentence
	Process Process // how to see that it runs, when it must not be written meanwhile
	Hook    Hook    // through which it passes on what the person says
}

// Hook says where a client can be told of a command that gets to read what the person types, before the agent does. The zero
// value is a client without one.
type Hook struct {
	Event string           // the member below "hooks" that lists such commands
	File  func(Env) string // the person's own settings: strict JSON that need not exist yet
	// Rules are settings that may forbid it: the person's, and an organisation's.
	Rules func(Env) []Rules
}

// Rules is one settings file that may switch hooks off.
type Rules struct {
	Path    string
	Managed bool // an organisation's, which can also allow none but its own hooks
}

// Config is one kind of file that a client reads servers from.
type Config struct {
	Paths  func(Env) []string // absolute candidates, best first; those that exist are read
	Maps   []Map
	Format jsonc.Format
	Shared bool // committed to version control: wrapped only when asked for, with a bare launcher
	Lock   bool // the client's own lock directory stands at <real path>.lock
	// Managed files belong to an organisation: they are reported, never edited, and may hide every other file of the client.
	Managed bool
	// Policies are files with the client's own allow and deny lists for this config (deniedMcpServers, allowedMcpServers); nil for none.
	Policies func(Env) []string
	Approval Approval
}

// Approval says whether a client starts the servers of a config before a person has said yes to them.
type Approval uint8

// The approvals.
const (
	None         Approval = iota // they start at once
	ByName                       // a yes is to a name, and holds whatever the entry says later; it stands in the files of Policies
	ByDefinition                 // a yes is to the entry as it is; where the client keeps it can't be read
)

// Map is one server map inside a config.
type Map struct {
	Scope   Scope
	Pointer []string // keys from the root; "*" stands for every member: {"projects", "*", "mcpServers"}
	// Here is the member that a "*" stands for in the working directory. That member, beside the map, also holds what the
	// client notes about this project: which servers are switched off, and whether the folder is trusted.
	Here func(Env) string
}

// Source is a kind of place that a client takes servers from and that bouncer does not edit: programs own it and write it
// anew with each update. What stands there is reported.
type Source struct {
	Kind   Kind
	Form   Form
	Places func(Env) []Place
}

// Place is one file of a Source. It need not exist.
type Place struct {
	Path  string
	Owner string // the plugin, agent or extension; empty when the file stands for itself
}

// Kind is what owns the servers of a Source, in a word.
type Kind string

// The kinds.
const (
	Plugin       Kind = "plugin"
	Agent        Kind = "agent"
	Extension    Kind = "extension"
	Organisation Kind = "organisation" // settings that an administrator has made
)

// Form is how servers stand in the files of a Source.
type Form uint8

// The forms.
const (
	ServerFile        Form = iota // JSON: the member mcpServers, or the whole file when there is none
	PluginManifest                // JSON: the member mcpServers, which may also name other files
	ExtensionManifest             // JSON: one server, server.mcp_config
	ManagedSettings               // JSON: the member managedMcpServers
	FrontMatter                   // Markdown: the list mcpServers between the first lines of three dashes
)

// Start says how a client is started, which decides where it finds programs.
type Start uint8

// The starts.
const (
	Terminal     Start = iota // from a shell: it has the person's PATH
	Desktop                   // by the desktop: PATH is the system's
	DesktopShell              // by the desktop, but it asks the login shell for PATH
)

// Path returns the PATH that a client started like this has for certain; ok is false when it is the person's, or not known.
func (s Start) Path(e Env) (path string, ok bool) {
	if s == Desktop && e.OS == "darwin" {
		return "/usr/bin:/bin:/usr/sbin:/sbin", true // launchd's
	}
	return "", false
}

// Process tells how a client that writes its config from memory shows up among the running programs.
// The zero value is a client whose file may be written while it runs.
type Process struct {
	Programs map[string][]Program // by GOOS
}

// Program is one executable.
type Program struct {
	Name   string // of the file, without .exe
	Folder string // how a folder on its path begins, when other programs bear the name too; else empty
	// Reads lists the configs that this program reads, when the client comes as several programs with files of their own.
	Reads func(Env) []string
}

// All lists every client bouncer knows, in the order in which they are shown.
func All() []Client {
	return []Client{
		claudeDesktop(),
		claudeCode(),
		cursor(),
	}
}

// ByID returns the client with that id.
func ByID(id string) (Client, bool) {
	for _, c := range All() {
		if c.ID == id {
			return c, true
		}
	}
	return Client{}, false
}
