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
import("node:module")
  .then((module) => {
    if (module.enableCompileCache) module.enableCompileCache()
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
