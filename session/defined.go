package session

// Definitions returns the tools as a person last accepted them, by name and as the server wrote them. One that was too large
// to be kept is left out. The error wraps fs.ErrNotExist when the server has no record.
func (s *Server) Definitions() (map[string][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.load()
	if err != nil {
		return nil, err
	}
	tools := make(map[string][]byte, len(r.tools))
	for name, p := range r.tools {
		if p.accepted != nil && p.accepted.text != nil {
			tools[name] = p.accepted.text
		}
	}
	return tools, nil
}
