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
	Reload  string  // how a person makes the client read its config again, one sentence
	Process Process // how to see that it runs, when it must not be written meanwhile
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
}

// Map is one server map inside a config.
type Map struct {
	Scope   Scope
	Pointer []string // keys from the root; "*" stands for every member: {"projects", "*", "mcpServers"}
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
