import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["test/agents/**", "**/node_modules/**"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Journeys start real daemons and agents, and wait for most of their time: three at once keep two cores busy, and no more.
    maxWorkers: 3,
  },
})
