import { fileURLToPath } from "node:url"
import { defineConfig } from "vite"

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: fileURLToPath(new URL("../dist/web", import.meta.url)),
    emptyOutDir: true,
    target: "es2023",
    // Everything is served from this machine; one request less is worth less than a file that a browser can check.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
  },
  // `npx vite web` while the daemon runs: pages from source, answers from it.
  server: { proxy: { "/api": "http://127.0.0.1:4747", "/events": "http://127.0.0.1:4747" } },
})
