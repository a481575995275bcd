import { fileURLToPath } from "node:url"

/** This Node and this program, by absolute path. */
export const ownProgram = () => ({
  node: process.execPath,
  entry: fileURLToPath(new URL("../../bin/throughline.js", import.meta.url)),
})
