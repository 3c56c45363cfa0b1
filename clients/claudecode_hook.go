package clients

// claudeCodeHook is the event in which Claude Code runs commands with a prompt on their standard input. Only the person's own
// settings are named: those of a project are other people's too.
func claudeCodeHook() Hook {
	return Hook{
		Event: "UserPromptSubmit",
		File: func(e Env) string {
			folder, _ := claudeCodeFolder(e)
			return e.Join(folder, "settings.json")
		},
		Rules: claudeCodeHookRules,
	}
}

// claudeCodeHookRules leaves out a project's settings: what they switch off is off in that project alone.
func claudeCodeHookRules(e Env) []Rules {
	folder, _ := claudeCodeFolder(e)
	var list []Rules
	for _, place := range claudeCodeManagedSettings(e) {
		list = append(list, Rules{Path: place.Path, Managed: true})
	}
	for _, file := range known(e.Join(folder, "settings.json")) {
		list = append(list, Rules{Path: file})
	}
	return list
}
