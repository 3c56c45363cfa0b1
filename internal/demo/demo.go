// Package demo holds what the demo plays with: a small mail server, an MCP client, a sample config and a policy.
package demo

// Config is a Cursor config as people have them, with a comment and a server that is reached over the network.
// %s stands for the command of the mail server, as a JSON string.
const Config = `{
  // mail for the assistant
  "mcpServers": {
    "mail": {
      "command": %s,
      "args": ["demo", "--mail-server"], // starts in a moment
      "env": { "MAIL_TOKEN": "` + Secret + `" }
    },
    "tickets": { "url": "https://tickets.example.com/mcp" }
  }
}
`

// Secret stands in the config, and nowhere on the screen.
const Secret = "s3cr3t-of-the-demo"

// Policy is the person's own policy: one address that mail may always go to.
const Policy = `send_email:
  trusted_destinations: [dana@example.com]
`

// Addresses of the story.
const (
	Trusted  = "dana@example.com"          // on the allowlist
	Injected = "archive@collector.example" // named by a mail that speaks to the assistant
	New      = "sam@partner.example"       // nobody has vouched for it
)
