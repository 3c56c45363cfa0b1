package taint

import "testing"

func TestMemberRole(t *testing.T) {
	for name, want := range map[string]role{
		"email": roleIdentifies, "contact_email": roleIdentifies, "workEmails": roleIdentifies, "addresses": roleIdentifies, "address": roleIdentifies,
		"id_": roleIdentifies, "userID": roleIdentifies, "ids": roleIdentifies, "message-id": roleIdentifies,
		"name": roleNames, "displayName": roleNames, "real names": roleNames, "alias": roleNames,
		"status": roleSpeaks, "channel_topic": roleSpeaks, "email_body": roleSpeaks, "notes": roleSpeaks,
		"filename": roleOther, "owner": roleOther, "created": roleOther, "": roleOther, "_": roleOther,
	} {
		if got := memberRole(name); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
}

func TestPaths(t *testing.T) {
	for _, tt := range []struct {
		path            string
		names           []string
		exactly, orPart bool
	}{
		{"recipient", []string{"recipient"}, true, true},
		{"$.items[*].to", []string{"items", "to"}, true, true},
		{"items.*.to", []string{"items", "x", "to"}, true, true},
		{"structuredContent.items[0].to", []string{"items", "to"}, true, true},
		{"content[0].text.to", []string{"to"}, true, true},
		{"to", []string{"result", "to"}, true, true},
		{"result.to", []string{"result", "to"}, true, true},
		{"items", []string{"items", "to"}, false, true},
		{"*", []string{"items", "to"}, true, true},
		{"*", nil, true, false},
		{"to", []string{"items", "to"}, false, false},
		{"items.to", []string{"items"}, false, false},
	} {
		paths := parsePaths([]string{tt.path})
		if got := leadsTo(paths, tt.names); got != tt.exactly {
			t.Errorf("%s leads to %v: %v", tt.path, tt.names, got)
		}
		if got := leadsAbove(paths, tt.names); got != tt.orPart {
			t.Errorf("%s leads above %v: %v", tt.path, tt.names, got)
		}
	}
}
