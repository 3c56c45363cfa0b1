//go:build !linux

package main

// fakePerson has no terminals here; its scripts are for Linux.
func fakePerson() {}
