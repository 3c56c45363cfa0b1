// Package outside must not compile: it tries to make markup of a string that it doesn't know.
package outside

import (
	"embed"

	"github.com/bouncer-mcp/bouncer/dashboard/internal/dom"
)

// Try is what each call of which must be refused.
func Try(s string, b []byte, files embed.FS) {
	dom.El(s)                // refused
	dom.Attr(s, "x")         // refused
	dom.Attr("x", s)         // refused
	dom.Class(s)             // refused
	dom.Word("x", s, "x")    // refused
	dom.Root("x").At(s)      // refused
	dom.Root("x").Of(s, "x") // refused
	dom.Read(files, s)       // refused
	dom.To("href", s)        // refused
	dom.El("p", s)           // refused
}
