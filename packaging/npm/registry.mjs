// Serves the tarballs of a folder as a package registry on this machine, so that npm can be seen choosing among them.
// registry.mjs FOLDER prints its address and runs until it is killed.
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const folder = process.argv[2];
const packages = new Map(); // by name
const tarballs = new Map(); // by path

for (const file of readdirSync(folder).filter((name) => name.endsWith(".tgz"))) {
  const bytes = readFileSync(join(folder, file));
  const manifest = JSON.parse(execFileSync("tar", ["-xzOf", join(folder, file), "package/package.json"]));
  packages.set(manifest.name, { manifest, file, integrity: "sha512-" + createHash("sha512").update(bytes).digest("base64") });
  tarballs.set(`/tarballs/${file}`, bytes);
}

const server = createServer((request, response) => {
  const path = decodeURIComponent(request.url);
  const found = packages.get(path.slice(1));
  if (tarballs.has(path)) {
    console.error(`fetched ${path}`);
    response.end(tarballs.get(path));
  } else if (found) {
    const { manifest, file, integrity } = found;
    const tarball = `http://127.0.0.1:${server.address().port}/tarballs/${file}`;
    const { name, version } = manifest;
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({ name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, dist: { tarball, integrity } } } }),
    );
  } else {
    response.writeHead(404).end("{}");
  }
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
