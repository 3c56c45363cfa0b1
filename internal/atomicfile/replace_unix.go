//go:build !windows

package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// keptBits are the parts of a mode that a replacement carries over.
const keptBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// dress gives tmp what the old file at target has: extended attributes, owner, mode. Without an old file it gets mode.
func dress(tmp *os.File, target string, old fs.FileInfo, mode fs.FileMode) error {
	if old == nil {
		return tmp.Chmod(mode)
	}
	if err := copyAttributes(tmp, target); err != nil {
		return err
	}
	if err := copyOwner(tmp, old); err != nil {
		return err
	}
	// Last, because a change of owner clears the set-id bits.
	return tmp.Chmod(old.Mode() & keptBits)
}

// copyOwner fails rather than let a file change hands, because its real owner could then no longer write it.
func copyOwner(tmp *os.File, old fs.FileInfo) error {
	info, err := tmp.Stat()
	if err != nil {
		return err
	}
	was, ok1 := old.Sys().(*syscall.Stat_t)
	is, ok2 := info.Sys().(*syscall.Stat_t)
	if !ok1 || !ok2 || (was.Uid == is.Uid && was.Gid == is.Gid) {
		return nil
	}
	if err := tmp.Chown(int(was.Uid), int(was.Gid)); err != nil {
		return fmt.Errorf("keep owner %d:%d: %w", was.Uid, was.Gid, err)
	}
	return nil
}

func copyAttributes(tmp *os.File, target string) error {
	names, err := attributeNames(target)
	if err != nil {
		// A file system without attributes has none to lose.
		return ignoring(err, unix.ENOTSUP, unix.ENOSYS)
	}
	for _, name := range names {
		err := copyAttribute(int(tmp.Fd()), target, name)
		// What a person set must survive: their own attributes and the access list. The rest (security.*, trusted.*,
		// com.apple.*) belongs to the system, which labels the new file itself and forbids others to, often even to read.
		if err != nil && (strings.HasPrefix(name, "user.") || name == "system.posix_acl_access") {
			return fmt.Errorf("keep attribute %s: %w", name, err)
		}
	}
	return nil
}

func attributeNames(path string) ([]string, error) {
	size, err := unix.Listxattr(path, nil)
	if err != nil || size == 0 {
		return nil, err
	}
	list := make([]byte, size)
	if size, err = unix.Listxattr(path, list); err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(list[:size]), func(r rune) bool { return r == 0 }), nil
}

func copyAttribute(to int, from, name string) error {
	size, err := unix.Getxattr(from, name, nil)
	if err != nil {
		return err
	}
	value := make([]byte, size)
	if size, err = unix.Getxattr(from, name, value); err != nil {
		return err
	}
	return unix.Fsetxattr(to, name, value[:size], 0)
}

// isMine reports whether a file belongs to the user of this process; everything is root's.
func isMine(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	uid := os.Geteuid()
	return ok && (uid == 0 || int(st.Uid) == uid)
}

// publishOver is one rename, which Unix promises to be atomic.
func publishOver(tmp, target string) error { return os.Rename(tmp, target) }

// publishNew relies on link(2), which unlike rename(2) refuses a name that is taken.
func publishNew(tmp, target string) error {
	err := os.Link(tmp, target)
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	if err == nil {
		return os.Remove(tmp)
	}
	// No hard links here (exFAT, some network mounts): claim the name with an empty file, then rename over our own claim.
	claim, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err = claim.Close(); err == nil {
		err = os.Rename(tmp, target)
	}
	if err != nil {
		_ = os.Remove(target) // our own empty claim
	}
	return err
}

// syncDir makes a rename in dir survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		// A directory one may write but not list can't be opened to be synced; the file itself has been.
		return ignoring(err, fs.ErrPermission)
	}
	defer func() { _ = d.Close() }() // only opened to be synced
	// Some network and FUSE file systems have no fsync for directories.
	return ignoring(d.Sync(), unix.EINVAL, unix.ENOTSUP, unix.ENOSYS)
}

// ignoring drops err if it is one of the harmless ones.
func ignoring(err error, harmless ...error) error {
	for _, h := range harmless {
		if errors.Is(err, h) {
			return nil
		}
	}
	return err
}
