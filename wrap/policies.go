package wrap

// readLists joins a client's own allow and deny lists from those of its policy files that exist. What an unreadable one
// says is unknown to the client too, but it is reported: mended, it may deny a server that was wrapped meanwhile.
func (d *discovery) readLists(c candidate) Lists {
	var joined Lists
	for _, path := range c.config.Policies(c.env) {
		lists, known := d.lists[path]
		if !known {
			var err error
			if lists, err = readPolicy(path); err != nil {
				d.found.Unreadable = append(d.found.Unreadable, FileError{Client: c.client, Path: path, Err: err})
			}
			d.lists[path] = lists
		}
		joined = joined.Merge(lists)
	}
	return joined
}

// readPolicy reads the lists of one policy file. A file that is not there has none.
func readPolicy(path string) (Lists, error) {
	data, _, err := readRegular(path)
	if missing(err) {
		return Lists{}, nil
	}
	if err != nil {
		return Lists{}, err
	}
	return ParseLists(data)
}
