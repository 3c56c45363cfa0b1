package clients

import (
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// places makes a Place of each file; owner may be nil.
func places(files []string, owner func(file string) string) []Place {
	var list []Place
	for _, file := range files {
		p := Place{Path: file}
		if owner != nil {
			p.Owner = owner(file)
		}
		list = append(list, p)
	}
	return list
}

// claudeCodePlugins gives one file of each plugin that is installed, holds in the working directory, and is not switched
// off. Claude Code lists them in plugins/installed_plugins.json, by NAME@MARKETPLACE.
func claudeCodePlugins(e Env, file ...string) []Place {
	folder, _ := claudeCodeFolder(e)
	doc := e.document(e.Join(folder, "plugins", "installed_plugins.json"))
	installed, _, err := doc.Lookup("plugins")
	if err != nil {
		return nil
	}
	off := claudeCodePluginsOff(e)
	var list []Place
	for _, m := range installed.Members {
		if slices.Contains(off, m.Key) {
			continue
		}
		name, market, _ := strings.Cut(m.Key, "@")
		roots := []string{e.marketplacePlugin(folder, market, name)}
		for _, install := range append(slices.Clip(m.Value.Elems), m.Value) { // a list since version 2, one object before
			if e.holds(doc, install) {
				roots = append(roots, text(doc, install, "installPath"))
			}
		}
		for _, root := range slices.Compact(known(roots...)) {
			list = append(list, Place{Path: e.Join(root, file...), Owner: name})
		}
	}
	return list
}

// holds reports whether a plugin's installation is for the working directory: one that names no project is for all.
func (e Env) holds(doc *jsonc.Doc, install jsonc.Value) bool {
	if install.Kind != '{' {
		return false
	}
	project := text(doc, install, "projectPath")
	return project == "" || slices.Contains(e.ancestors(e.Project), project)
}

// claudeCodePluginsOff lists the plugins that the settings switch off; of several settings the last one counts.
func claudeCodePluginsOff(e Env) []string {
	var off []string
	for _, file := range claudeCodePolicies(e) {
		doc := e.document(file)
		enabled, _, err := doc.Lookup("enabledPlugins")
		if err != nil {
			continue
		}
		for _, m := range enabled.Members {
			off = slices.DeleteFunc(off, func(name string) bool { return name == m.Key })
			if m.Value.Kind == 'f' {
				off = append(off, m.Key)
			}
		}
	}
	return off
}

// marketplacePlugin is a plugin's folder inside a marketplace's: those of a local folder run from there, and the copies
// that others are installed as may be empty.
func (e Env) marketplacePlugin(folder, market, name string) string {
	doc := e.document(e.Join(folder, "plugins", "known_marketplaces.json"))
	entry, _, err := doc.Lookup(market)
	if err != nil {
		return ""
	}
	root := text(doc, entry, "installLocation")
	doc = e.document(e.Join(root, ".claude-plugin", "marketplace.json"))
	plugins, _, err := doc.Lookup("plugins")
	if err != nil {
		return ""
	}
	for _, plugin := range plugins.Elems {
		if source := text(doc, plugin, "source"); source != "" && text(doc, plugin, "name") == name {
			return e.below(root, source)
		}
	}
	return ""
}

// cursorPlugins gives one file of each plugin in Cursor's folder: those that were put there by hand, and those from its
// marketplace, which lie below their publisher, in a folder for each version.
func cursorPlugins(e Env, file ...string) []Place {
	root := e.Join(e.Home, ".cursor", "plugins")
	var list []Place
	for _, below := range [][]string{{"local", "*"}, {"cache", "*", "*", "*"}} {
		for _, found := range e.glob(e.Join(root, append(below, file...)...)) {
			folder := found
			for range file {
				folder = e.folder(folder)
			}
			if len(below) > 2 {
				folder = e.folder(folder) // the version's
			}
			list = append(list, Place{Path: found, Owner: e.base(folder)})
		}
	}
	return list
}
