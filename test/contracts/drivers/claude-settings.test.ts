import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createClaudeCodeDriver } from "../../../src/agents/claude-code/driver.ts"
import { CLAUDES } from "../../fixtures/agents.ts"
import { bench } from "../../fixtures/driver-bench.ts"
import { claudeHome } from "./claude-code.ts"

test.each(CLAUDES)(
  "a prompt that a hook of the team's settings turns away ends its turn ($version)",
  async ({ name }) => {
    const home = await claudeHome(name)
    const b = bench(createClaudeCodeDriver(), home)
    const settingsFile = join(home.dir, "settings.json")
    const command = `grep -q secret && echo '{"decision":"block","reason":"No secrets here."}' || true`
    const hooks = { UserPromptSubmit: [{ hooks: [{ type: "command", command }] }] }
    writeFileSync(settingsFile, JSON.stringify({ hooks }))
    const { say } = await b.start({ settingsFile })
    expect((await say("<<SAY fine>>")).text).toBe("fine")
    expect((await say("<<SAY secret>>")).text).not.toBe("secret")
    expect(home.heard()).toHaveLength(1)
    expect((await say("<<SAY on>>")).text).toBe("on")
    await b.closeAll()
    await home.close()
  },
)
