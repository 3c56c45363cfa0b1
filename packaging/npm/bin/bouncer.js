#!/usr/bin/env node
// Starts the bouncer that npm has installed for this system, in the package that the line below names. Nothing is fetched.
"use strict";

const { spawn } = require("node:child_process");

const name = `@bouncer-mcp/${process.platform}-${process.arch}`;
const program = process.platform === "win32" ? "bouncer.exe" : "bouncer";

let file;
try {
  file = require.resolve(`${name}/bin/${program}`);
} catch {
  console.error(`bouncer: the package ${name} is not installed`);
  console.error("hint: install bouncer-mcp again without --omit=optional; if there is no such package, bouncer is not built for this system");
  process.exit(1);
}

// Standard input and output are the program's own: no byte of the protocol passes through here.
const child = spawn(file, process.argv.slice(2), { stdio: "inherit", windowsHide: true });

// A signal to this process alone is meant for the program. One that a terminal sends to both reaches it anyway.
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of signals) {
  process.on(signal, () => child.kill(signal));
}

child.on("error", (error) => {
  console.error(`bouncer: ${error.message}`);
  process.exit(1);
});

child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  for (const other of signals) {
    process.removeAllListeners(other);
  }
  process.kill(process.pid, signal); // end as the program did
});
