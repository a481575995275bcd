import { chmodSync } from "node:fs"
import { defineConfig } from "vitest/config"

// Stryker's copy is open to its owner only, and one test reads the source as another user.
if (process.cwd().includes("sandbox-")) chmodSync(process.cwd(), 0o755)

/** Used by scripts/mutation.ts, inside Stryker's copy of the project, with the tests of one module. */
export default defineConfig({
  test: {
    include: (process.env.MUTATION_TESTS ?? "src/**/*.test.ts").split(","),
    exclude: ["**/node_modules/**"],
    // Below Stryker's own limit, so that a test that waits in vain fails instead of timing out.
    testTimeout: 25_000,
    hookTimeout: 25_000,
    expect: { poll: { timeout: 8_000 } },
  },
})
