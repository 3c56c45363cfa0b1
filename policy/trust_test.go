package policy

import (
	"strings"
	"testing"
)

func TestTrusts(t *testing.T) {
	for _, tt := range []struct {
		item, value string
		want        bool
	}{
		{"bob@corp.com", "bob@corp.com", true},
		{" bob@corp.com ", "BOB@Corp.COM\n", true},
		{"bob@corp.com", "bob@corp.co", false},
		{"bob@corp.com", "Bob <bob@corp.com>", false},
		{"bob@corp.com", "bob@corp.com, eve@evil.com", false},
		{"bob@corp.com", "bob@corp.com\nbcc: eve@evil.com", false},
		{"bob@corp.com", "mailto:bob@corp.com", false},
		{"bob@corp.com", "bob+x@corp.com", false},
		{"bob@corp.com", "b\u200bob@corp.com", false},
		{"bob@corp.com", "b\u043eb@corp.com", false}, // Cyrillic o
		{"bob@corp.com", "bob@corp.com.", false},
		{"josé@corp.com", "josé@corp.com", true},
		{"josé@corp.com", "JOSÉ@corp.com", false},
		{"josé@corp.com", "jose\u0301@corp.com", false},

		{"@corp.com", "anyone@corp.com", true},
		{"*@corp.com", "Anyone@CORP.com", true},
		{"*@corp.com", "a@sub.corp.com", false},
		{"*@corp.com", "a@evilcorp.com", false},
		{"*@corp.com", "a@evil.com@corp.com", false},
		{"*@corp.com", "a%evil.com@corp.com", false},
		{"*@corp.com", "evil.com!a@corp.com", false},
		{"*@corp.com", `"a@evil.com,"@corp.com`, false},
		{"*@corp.com", "a@evil.com,b@corp.com", false},
		{"*@corp.com", "a@evil.com;b@corp.com", false},
		{"*@corp.com", "a@evil.com b@corp.com", false},
		{"*@corp.com", "<a@evil.com>b@corp.com", false},
		{"*@corp.com", "@corp.com", false},
		{"*@corp.com", "corp.com", false},
		{"@", "anything", false},
		{"*@", "anything", false},
		{"*", "anything", false},
		{"*", "*", false},
		{"", "", false},

		{"https://api.corp.com", "https://api.corp.com", true},
		{"https://api.corp.com", "https://api.corp.com/", true},
		{"https://api.corp.com", "https://api.corp.com/v1?q=1#x", true},
		{"https://api.corp.com", "https://api.corp.com?q=1", true},
		{"https://api.corp.com", "HTTPS://API.corp.com:443/v1", true},
		{"https://api.corp.com:443", "https://api.corp.com/v1", true},
		{"https://api.corp.com", "https://api.corp.com:8443/v1", false},
		{"https://api.corp.com:8443", "https://api.corp.com:8443/v1", true},
		{"https://api.corp.com", "https://api.corp.com:/v1", false},
		{"https://api.corp.com", "https://api.corp.com:0443/v1", false},
		{"https://api.corp.com", "http://api.corp.com/v1", false},
		{"https://api.corp.com", "https://api.corp.com.evil.com", false},
		{"https://api.corp.com", "https://api.corp.com@evil.com", false},
		{"https://api.corp.com", "https://api.corp.com:443@evil.com/", false},
		{"https://api.corp.com", `https://api.corp.com\@evil.com`, false},
		{"https://api.corp.com", `https://evil.com\@api.corp.com`, false},
		{"https://api.corp.com", "https://u@api.corp.com/", false},
		{"https://api.corp.com", "https://api.corp.com./v1", false},
		{"https://api.corp.com", "https://api.corp.com%2eevil.com/", false},
		{"https://api.corp.com", "https://evil.com/https://api.corp.com", false},
		{"https://api.corp.com", "https://evil.com#https://api.corp.com", false},
		{"https://api.corp.com", "https:api.corp.com", false},
		{"https://api.corp.com", "//api.corp.com", false},
		{"https://api.corp.com", "api.corp.com", false},
		{"https://api.corp.com", "https://аpi.corp.com/", false}, // Cyrillic a
		{"https://api.corp.com", "https://api.corp.com\u2024evil.com/", false},
		{"https://api.corp.com", "https://evil.com\uff0f.api.corp.com/", false},
		{"https://bücher.de", "https://bücher.de/x", true},
		{"https://bücher.de", "https://BÜCHER.de/x", false},
		{"https://bücher.de", "https://xn--bcher-kva.de/x", false},
		{"https://xn--bcher-kva.de", "https://XN--bcher-kva.de/x", true},
		{"https://xn--bcher-kva.de", "https://bücher.de/x", false},

		{"https://h.com/a/b", "https://H.com/a/b", true},
		{"https://h.com/a/b", "https://h.com/a/B", false},
		{"https://h.com/a/b", "https://h.com/a/b/", false},
		{"https://h.com/a/b", "https://h.com/a/b?x", false},
		{"https://h.com/", "https://h.com", true},
		{"https://h.com/", "https://h.com/x", false},

		{"https://h.com/ok/*", "https://h.com/ok/x", true},
		{"https://h.com/ok/*", "https://h.com/ok/", true},
		{"https://h.com/ok/*", "https://h.com/ok/x?q=/../", true},
		{"https://h.com/ok/*", "https://h.com/%6fk/x", true},
		{"https://h.com/ok/*", "https://h.com/ok/a/../b", true},
		{"https://h.com/ok/*", "https://h.com/ok", false},
		{"https://h.com/ok/*", "https://h.com/okay/x", false},
		{"https://h.com/ok/*", "https://h.com/ok/../evil", false},
		{"https://h.com/ok/*", "https://h.com/ok/%2e%2e/evil", false},
		{"https://h.com/ok/*", "https://h.com/ok/.%2E/evil", false},
		{"https://h.com/ok/*", "https://h.com/ok/%252e%252e/evil", false},
		{"https://h.com/ok/*", "https://h.com/ok/..%2fevil", false},
		{"https://h.com/ok/*", "https://h.com/ok/..%5cevil", false},
		{"https://h.com/ok/*", "https://h.com/ok/..;/evil", false},
		{"https://h.com/ok/*", "https://h.com/ok/..;x=1/evil", false},
		{"https://h.com/ok/*", "https://h.com/ok//../evil", false},
		{"https://h.com/ok/*", "https://h.com/ok/%00", false},
		{"https://h.com/ok/*", "https://h.com/ok/%zz", false},
		{"https://h.com/ok/*", "https://h.com/x?/ok/", false},
		{"https://h.com/ok/*", "https://evil.com/ok/x", false},
		{"https://h.com/*", "https://h.com/", true},
		{"https://h.com/*", "https://h.com", true},

		{"api.corp.com", "API.corp.com", true},
		{"api.corp.com", "https://api.corp.com", false},
		{"api.corp.com", "x.api.corp.com", false},
		{"#general", "#General", true},
		{"#general", "#general2", false},
		{"C0123", "c0123", true},
		{"Straße", "STRASSE", false},
		{"ok", "o\u00adk", false},
		{"ok", "ok\x00", false},
		{"ok", "ok\xff", false},
		{"o k", "o\u00a0k", false},
		{"x\u200b", "x\u200b", false},
	} {
		if got := Trusts([]string{"unrelated@example.org", tt.item}, tt.value); got != tt.want {
			t.Errorf("Trusts(%q, %q) = %t, want %t", tt.item, tt.value, got, tt.want)
		}
	}
}

// FuzzTrusts looks for values that a URL or mail client reads as another host than the one that is trusted.
func FuzzTrusts(f *testing.F) {
	for _, s := range []string{"a@corp.com", "https://h.com/ok/x", "https://h.com/ok/../x", "https://h.com@evil.com/ok/", "@corp.com"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if Trusts(nil, value) {
			t.Fatalf("%q is trusted by an empty list", value)
		}
		trimmed := strings.ToLower(trim(value))
		if Trusts([]string{"*@corp.com"}, value) && (strings.Count(value, "@") != 1 || !strings.HasSuffix(trimmed, "@corp.com")) {
			t.Fatalf("%q passes for an address at corp.com", value)
		}
		if Trusts([]string{"https://h.com/ok/*"}, value) {
			rest, ok := strings.CutPrefix(strings.Replace(trimmed, ":443", "", 1), "https://h.com/")
			path, _, _ := strings.Cut(rest, "?")
			path, _, _ = strings.Cut(path, "#")
			if !ok || strings.Contains(path, "\\") {
				t.Fatalf("%q passes for a URL at h.com", value)
			}
		}
	})
}
