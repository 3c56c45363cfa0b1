package link

import (
	"path/filepath"
)

// LookPath returns the file that [Start] would run for a command in an environment, from bouncer's own working directory.
func LookPath(command string, env []string) (string, error) {
	found, _, err := newSearch(Spec{Env: env}).find(command)
	if err != nil {
		return "", err
	}
	return filepath.Abs(found)
}
