// Without this script the page loads itself anew every few seconds. With it, as soon as there is something new, and in place:
// the focus stays where it is.
(async () => {
  for (;;) {
    const main = document.querySelector("main")
    try {
      const answer = await fetch(main.dataset.wait + "?since=" + main.dataset.stamp)
      if (!answer.ok) throw new Error(answer.status)
      if (answer.status === 204) continue
      const page = await (await fetch(location.pathname)).text()
      const fresh = new DOMParser().parseFromString(page, "text/html")
      const focus = document.activeElement && document.activeElement.id
      main.replaceWith(fresh.querySelector("main"))
      document.title = fresh.title
      if (focus) document.getElementById(focus)?.focus()
    } catch {
      const note = document.createElement("p")
      note.className = "note"
      note.setAttribute("role", "alert")
      note.textContent = "This page shows nothing new any more: bouncer dashboard has ended, or can't be reached."
      main.prepend(note)
      return
    }
  }
})()
