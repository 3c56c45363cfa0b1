// Makes the npm packages out of goreleaser's dist: one per system, holding the binary, and bouncer-mcp, which depends on all
// of them optionally, so that npm installs the one that fits. dist/npm gets the tarballs, and server.json for the MCP
// registry, which names the same version.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const out = join(root, "dist/npm");
const read = (...path) => JSON.parse(readFileSync(join(...path), "utf8"));
const write = (value, ...path) => writeFileSync(join(...path), JSON.stringify(value, null, 2) + "\n");

const { version } = read(root, "dist/metadata.json");
const main = read(here, "package.json");
const platforms = { linux: "linux", darwin: "darwin", windows: "win32" };
const cpus = { amd64: "x64", arm64: "arm64" };

rmSync(out, { recursive: true, force: true });

function pack(manifest, files) {
  const dir = join(out, "packages", manifest.name);
  mkdirSync(join(dir, "bin"), { recursive: true });
  for (const [to, from, mode] of [...files, ["LICENSE", join(root, "LICENSE"), 0o644]]) {
    copyFileSync(from, join(dir, to));
    chmodSync(join(dir, to), mode);
  }
  write(manifest, dir, "package.json");
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", out, dir], {
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  });
  return manifest.name;
}

const names = read(root, "dist/artifacts.json")
  .filter((artifact) => artifact.type === "Binary")
  .map(({ path, goos, goarch }) => {
    const os = platforms[goos];
    const cpu = cpus[goarch];
    const file = os === "win32" ? "bin/bouncer.exe" : "bin/bouncer";
    const { homepage, repository, license } = main;
    const description = `bouncer for ${os} on ${cpu}; install bouncer-mcp instead`;
    const manifest = { name: `@bouncer-mcp/${os}-${cpu}`, version, description, homepage, repository, license };
    return pack({ ...manifest, os: [os], cpu: [cpu], files: ["bin"], preferUnplugged: true }, [[file, join(root, path), 0o755]]);
  })
  .sort();
if (names.length !== Object.keys(platforms).length * Object.keys(cpus).length) {
  throw new Error(`dist holds binaries for ${names.join(", ") || "no system"} only`);
}

const optionalDependencies = Object.fromEntries(names.map((name) => [name, version]));
pack({ ...main, version, optionalDependencies }, [
  ["bin/bouncer.js", join(here, "bin/bouncer.js"), 0o755],
  ["README.md", join(here, "README.md"), 0o644],
]);

// The registry takes an entry for its author's only if the package says the entry's name.
const server = read(here, "../server.json");
if (server.name !== main.mcpName || server.packages.some(({ identifier }) => identifier !== main.name)) {
  throw new Error("package.json and server.json don't name each other");
}
server.version = version;
server.packages.forEach((each) => (each.version = version));
write(server, out, "server.json");
