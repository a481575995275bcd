import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createClaudeCodeDriver } from "../../../src/adapters/drivers/claude-code.ts"
import { agents, CLAUDES, claudeEnv } from "../../fixtures/agents.ts"
import { realHome } from "../../fixtures/driven.ts"
import { bench } from "../../fixtures/driver-bench.ts"
import { anthropicMessages, toolUse } from "../../fixtures/model-api.ts"

test.each(CLAUDES)(
  "a prompt that a hook of the team's settings turns away ends its turn ($version)",
  async ({ name }) => {
    const home = await realHome({
      wire: anthropicMessages,
      program: agents.claude(name),
      runs: (command) => toolUse("Bash", { command }),
      env: (home, modelUrl) => claudeEnv(home, modelUrl, join(home.env.HOME!, "work")),
    })
    const b = bench(createClaudeCodeDriver(), home)
    const settingsFile = join(home.dir, "settings.json")
    const command = `grep -q secret && echo '{"decision":"block","reason":"No secrets here."}' || true`
    const hooks = { UserPromptSubmit: [{ hooks: [{ type: "command", command }] }] }
    writeFileSync(settingsFile, JSON.stringify({ hooks }))
    const { say } = await b.start({ settingsFile })
    expect((await say("<<SAY fine>>")).text).toBe("fine")
    const blocked = await say("<<SAY secret>>")
    expect(blocked.status).not.toBe("cancelled")
    expect(home.heard()).toHaveLength(1)
    expect((await say("<<SAY on>>")).text).toBe("on")
    await b.closeAll()
    await home.close()
  },
)
