package dashboard

import (
	"os"
	"os/exec"
)

// Browser is the command that opens a file in the person's browser; nil where there is no screen.
func Browser(goos string, getenv func(string) string, file string) []string {
	switch {
	case getenv("SSH_CONNECTION") != "":
		return nil // the browser would open far from the person
	case goos == "darwin":
		return []string{"/usr/bin/open", file}
	case goos == "windows":
		return []string{getenv("SystemRoot") + `\System32\rundll32.exe`, "url.dll,FileProtocolHandler", file}
	case getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "":
		return nil
	}
	return []string{"xdg-open", file}
}

// Open starts such a command. It must not take bouncer's terminal, nor end with it.
func Open(argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, nil, nil
	cmd.SysProcAttr = apart()
	cmd.Env = os.Environ()
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // whether the browser liked the file shows when it comes in
	return nil
}
