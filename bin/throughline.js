#!/usr/bin/env node
// Plain JavaScript that any Node can read, so that an old one gets a sentence and not a stack trace.
var version = process.versions.node.split(".").map(Number)
if (version[0] < 22 || (version[0] === 22 && version[1] < 15)) {
  process.stderr.write(
    "Throughline needs Node 22.15 or newer; this is " +
      process.version +
      " (" +
      process.execPath +
      ").\n" +
      "Install a newer Node, or in a clone of the project use `npm start`, which brings its own.\n",
  )
  process.exit(6)
}
Promise.all([import("node:module"), import("node:fs"), import("node:os"), import("node:path")])
  .then(([module, fs, os, path]) => {
    // biome-ignore lint/style/noProcessEnv: needed before any module of ours is loaded, environment.ts included.
    const home = process.env.THROUGHLINE_HOME || path.join(os.homedir(), ".throughline")
    const dir = cacheFolder(fs, home, path)
    if (dir !== undefined && module.enableCompileCache) {
      // Node creates a folder of its own in it, open to all by default.
      const umask = process.umask(0o077)
      module.enableCompileCache(dir)
      process.umask(umask)
    }
    return import("../dist/daemon/main.js")
  })
  .then(
    (entry) => entry.main(process.argv.slice(2)),
    (error) => {
      if (error && error.code === "ERR_MODULE_NOT_FOUND" && String(error.message).includes("dist")) {
        process.stderr.write("Throughline is not built yet: run `npm run build` first.\n")
        process.exit(1)
      }
      throw error
    },
  )

/**
 * Node runs the code that it finds in a compile cache, guarded by a checksum that anyone can compute. Its default folder
 * is in the shared temporary directory, where another user can create it first. So the cache is in the data directory, if
 * that exists and nobody but us can enter it; otherwise there is none.
 */
function cacheFolder(fs, home, path) {
  try {
    if (!isPrivate(fs.statSync(home))) return undefined
    const dir = path.join(home, "cache")
    try {
      fs.mkdirSync(dir, { mode: 0o700 })
    } catch (error) {
      if (error.code !== "EEXIST") throw error
    }
    return isPrivate(fs.lstatSync(dir)) ? dir : undefined
  } catch {
    return undefined
  }
}

function isPrivate(found) {
  if (!found.isDirectory()) return false
  return !process.getuid || (found.uid === process.getuid() && (found.mode & 0o077) === 0)
}
