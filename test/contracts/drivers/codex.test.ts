import { expect, test } from "vitest"
import { createCodexDriver } from "../../../src/agents/codex/driver.ts"
import { agents, codexEnv } from "../../fixtures/agents.ts"
import { realHome } from "../../fixtures/driven.ts"
import { bench, processesOf } from "../../fixtures/driver-bench.ts"
import { toolUse } from "../../fixtures/model-api.ts"
import { openaiResponses } from "../../fixtures/model-api-responses.ts"
import { driverContract } from "../driver.ts"

const home = () =>
  realHome({
    wire: openaiResponses,
    program: agents.codex(),
    runs: (command) => toolUse("exec_command", { cmd: command }),
    env: codexEnv,
  })

driverContract("Codex", {
  driver: createCodexDriver(),
  home,
  maxPromptChars: 1_048_576,
  denial: /rejected/,
  shell: { tool: "shell", input: (command) => ({ command: expect.stringContaining(command) }) },
})

test("all threads of a home are in one process: closed one by one, lost together, and there again", async () => {
  const there = await home()
  const driver = createCodexDriver()
  const b = bench(driver, there)
  const [one, two] = await Promise.all([b.start(), b.start()])
  expect(one.session.pid).toBe(two.session.pid)
  await Promise.all([one.say("<<SAY peach>>"), two.say("<<SAY cherry>>")])
  await one.session.close()
  expect((await two.say("<<SAY still>>")).text).toBe("still")
  const again = await b.start({ session: { kind: "resume", id: one.session.nativeId } })
  expect(again.session.pid).toBe(two.session.pid)
  expect((await again.say("<<RECALL pit>>")).text).toBe("heard: peach pit")

  const running = [again.prompt("<<HOLD a>>"), two.prompt("<<HOLD b>>")]
  process.kill(two.session.pid, "SIGKILL")
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual(["failed", "failed"])
  const back = await b.start({ session: { kind: "resume", id: two.session.nativeId } })
  expect(back.session.pid).not.toBe(two.session.pid)
  expect((await back.say("<<SAY back>>")).text).toBe("back")
  await b.closeAll()
  expect(await processesOf(there.dir)).toEqual([])
  await driver.close()
  await there.close()
})
