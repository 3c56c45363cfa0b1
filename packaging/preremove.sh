#!/bin/sh
# Tells whoever takes the package away what it leaves behind. It looks into nobody's home and changes nothing.
# An upgrade removes the package too: dpkg says "upgrade", rpm gives the number of versions that stay. pacman and apk don't
# come by here then.
case ${1-} in
upgrade | failed-upgrade | deconfigure | [1-9]) exit 0 ;;
esac
cat >&2 <<'END'
bouncer: MCP servers that start through bouncer won't start without it. Everyone who has
bouncer: run "bouncer init" on this machine should run "bouncer unwrap", which gives their
bouncer: configs back. If bouncer is gone by then: install it again, unwrap, remove it.
END
exit 0
