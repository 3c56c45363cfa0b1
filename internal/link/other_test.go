//go:build !linux

package link

func systemRoles() map[string]func([]string) int { return nil }
