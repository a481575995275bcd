import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "web/src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["test/agents/**", "**/node_modules/**"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Journeys start real daemons and agents; more at once than cores makes them wait for each other.
    maxWorkers: 2,
  },
})
