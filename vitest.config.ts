import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** They take half a minute or more; begun last, they would be what a whole run ends up waiting for. */
const LONG = [
  "test/journeys/manual",
  "test/journeys/telegram-mirror",
  "test/journeys/hooks-agents",
  "test/journeys/capture-claude",
  "test/journeys/daemon",
  "test/journeys/asking-claude",
  "test/journeys/teams",
  "test/journeys/restarts",
  "test/journeys/queue",
  "test/journeys/recall-claude",
  "test/journeys/service",
  "test/contracts/lines/codex-away",
  "test/contracts/drivers/",
  "src/messenger/inbound/poll",
]

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => LONG.some((start) => moduleId.includes(`/${start}`))
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "demo/**/*.test.ts", "web/src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["test/agents/**", "**/node_modules/**"],
    // Limits say when to give up, and hold on a machine with load 15; how fast something is belongs in bench/.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    setupFiles: ["test/setup.ts"],
    // A process of its own for each of hundreds of files costs minutes; none of them leaves anything behind in one.
    isolate: false,
    // More than the two cores of the smallest machine: journeys mostly wait, for timers and for other programs.
    maxWorkers: 3,
    sequence: { sequencer: LongFirst },
  },
})
