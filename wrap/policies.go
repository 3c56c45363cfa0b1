package wrap

import "github.com/bouncer-mcp/bouncer/internal/jsonc"

// settings are what one of a client's own settings files says about servers.
type settings struct {
	lists     Lists
	approvals approvals
}

// readLists joins a client's own allow and deny lists from those of its policy files that exist. What an unreadable one
// says is unknown to the client too, but it is reported: mended, it may deny a server that was wrapped meanwhile.
func (d *discovery) readLists(c candidate) Lists {
	var joined settings
	for _, path := range c.config.Policies(c.env) {
		s, known := d.lists[path]
		if !known {
			var err error
			if s, err = readSettings(path); err != nil {
				d.found.Unreadable = append(d.found.Unreadable, FileError{Client: c.client, Path: path, Err: err})
			}
			d.lists[path] = s
		}
		joined.lists = joined.lists.Merge(s.lists)
		joined.approvals = joined.approvals.merge(s.approvals)
	}
	if d.found.approvals != nil {
		d.found.approvals[c.path] = joined.approvals
	}
	return joined.lists
}

// readSettings reads one policy file. A file that is not there says nothing.
func readSettings(path string) (settings, error) {
	data, _, err := readRegular(path)
	if missing(err) {
		return settings{}, nil
	}
	if err != nil {
		return settings{}, err
	}
	lists, err := ParseLists(data)
	if err != nil {
		return settings{}, err
	}
	doc, err := jsonc.Parse(data, jsonc.Comments)
	if err != nil {
		return settings{}, err
	}
	return settings{lists, parseApprovals(doc)}, nil
}
