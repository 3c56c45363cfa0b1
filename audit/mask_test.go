package audit

import (
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	run := strings.Repeat("a1B2", 9)
	pem := "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----"
	tests := []struct{ text, want string }{
		{"nothing to hide", "nothing to hide"},
		{"", ""},
		{"ghp_" + run, mask},
		{"gho_" + run + " ghs_" + run, mask + " " + mask},
		{"github_pat_11ABC_" + run, mask},
		{"(glpat-" + run + ")", "(" + mask + ")"},
		{"sk-proj-" + run, mask},
		{"sk-ant-api03-" + run + "-_AA", mask},
		{"risk-" + run, "risk-" + run},
		{"sk-learn-tutorial-for-beginners", "sk-learn-tutorial-for-beginners"},
		{"xoxb-123456789012-" + run, mask},
		{"xox-" + run, "xox-" + run},
		{"AKIAIOSFODNN7EXAMPLE", mask},
		{"AKIA is a prefix", "AKIA is a prefix"},
		{"key=AIza" + run, "key=" + mask},
		{"npm_" + run, mask},
		{"npm_install_everything_please", "npm_install_everything_please"},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln-_x, next", mask + ", next"},
		{"eyJhbGciOiJIUzI1NiJ9 alone", "eyJhbGciOiJIUzI1NiJ9 alone"},
		{"Authorization: Bearer abc.DEF/1234567890==", "Authorization: " + mask},
		{"bearer of bad news", "bearer of bad news"},
		{"before " + pem + " after", "before " + mask + " after"},
		{pem + "ghp_" + run, mask + mask},
		{"-----BEGIN PRIVATE KEY-----\nMHc and no end", mask},
		{"-----BEGIN CERTIFICATE-----\nMHc", "-----BEGIN CERTIFICATE-----\nMHc"},
		{"https://user:pass@example.com/a@b", "https://" + mask + "@example.com/a@b"},
		{"postgres://u:p@ss@db:5432/x", "postgres://" + mask + "@db:5432/x"},
		{"https://example.com/?mail=ann@example.com", "https://example.com/?mail=ann@example.com"},
		{"https://@example.com", "https://@example.com"},
		{"see https://a.example and ann@b.example", "see https://a.example and ann@b.example"},
	}
	for _, tt := range tests {
		if got := string(appendMasked(nil, []byte(tt.text), len(tt.text))); got != tt.want {
			t.Errorf("%q\n got %q\nwant %q", tt.text, got, tt.want)
		}
		if got := hasSecret([]byte(tt.text)); got != (tt.text != tt.want) {
			t.Errorf("%q: hasSecret is %v", tt.text, got)
		}
	}
}

// Where a text is cut, no part of a secret stays that reaches across the cut.
func TestMaskAcrossTheCut(t *testing.T) {
	secret := "https://user:" + strings.Repeat("s3cr3t", 100) + "@example.com/"
	for _, before := range []int{0, 20, 40, 55, 63, 64, 100} {
		var r record
		r.string(strings.Repeat(" ", before)+secret, maxText)
		if strings.Contains(string(r.body), "s3cr3t") {
			t.Errorf("behind %d bytes: %s", before, r.body)
		}
	}
}

func TestSecretName(t *testing.T) {
	for name, want := range map[string]bool{
		"password": true, "db_password": true, "Authorization": true, "X-Api-Key": true, "apiKey": true, "client.secret": true,
		"GITHUB_TOKEN": true, "access token": true, "set-cookie": true, strings.Repeat("long", 99) + "_TOKEN": true,
		"": false, "to": false, "max_tokens": false, "secretary": false, "tokenizer": false, "key": false, "author": false,
	} {
		if got := secretName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
