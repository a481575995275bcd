import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { newMessageId } from "../../src/domain/ids.ts"
import { agents, CLAUDES, claudeEnv } from "../fixtures/agents.ts"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { anthropicMessages, type ModelApi, startModelApi, text, toolUse, wordsOf } from "../fixtures/model-api.ts"
import { proves } from "../promises.ts"

const SLOW_MS = 240_000
const TASK = "Move the harbour's records to the new host"
const TASK_ID = newMessageId("harbour", "task")
const SAVE = "mcp__throughline__task_state"

describe.each(CLAUDES)("Claude Code $version, killed in the middle of a task", ({ name }) => {
  let home: TestHome
  let model: ModelApi
  let cwd: string
  beforeAll(async () => {
    home = makeHome()
    model = await startModelApi(anthropicMessages)
    cwd = join(home.env.HOME!, "harbour")
    mkdirSync(cwd)
    writeFileSync(join(cwd, "note.txt"), "Nothing of note.\n")
    await home.json("setup", "claude-code", "--yes")
    await home.run("start", "--set", "resume.onStart=off")
    await home.json("teams", "add", "harbour", "--project", cwd, "--task-state-file")
  })
  afterAll(async () => {
    await model.close()
    await home.dispose()
  })

  const start = (prompt: string, ...args: string[]): ChildProcess =>
    spawn(
      agents.claude(name),
      ["-p", prompt, "--output-format", "json", "--allowedTools", "Read,mcp__throughline__*", ...args],
      // As an editor starts it, with a person there: the unfinished task is reported to nobody else.
      {
        cwd,
        env: { ...claudeEnv(home, model.url, cwd), CLAUDE_CODE_ENTRYPOINT: "claude-vscode" },
        stdio: ["ignore", "pipe", "ignore"],
      },
    )
  const firstRequest = async (prompt: string, ...args: string[]) => {
    const since = model.requests.length
    const agent = start(prompt, ...args)
    let printed = ""
    agent.stdout!.on("data", (chunk: Buffer) => {
      printed += chunk
    })
    await once(agent, "close")
    const { session_id } = JSON.parse(printed) as { session_id: string }
    return { words: wordsOf(model.requests[since]!.body.messages), sessionId: session_id }
  }
  const send = async (message: string) => ((await home.json("send", "harbour", message)) as { id: string }).id

  test(`its task is in the next session's first request. ${proves("task.survives")}`, {
    timeout: SLOW_MS,
  }, async () => {
    let agent: ChildProcess | undefined
    let isSaved = false
    model.script(async ({ tools, toolResults, turn }) => {
      if (isSaved && toolResults.some(({ content }) => wordsOf(content).includes("Saved"))) {
        agent?.kill("SIGKILL")
        return [text("Nobody hears this.")]
      }
      // An agent begins before its MCP servers have answered.
      isSaved = tools.some((tool) => tool.name === SAVE)
      if (!isSaved) await sleep(300)
      if (turn > 60) return [text("The tool never came.")]
      const saved = {
        current_task: TASK,
        current_task_id: TASK_ID,
        last_completed_step: 2,
        pending_messages: ["m-old"],
      }
      return [
        isSaved
          ? toolUse(SAVE, { operation: "save", ...saved })
          : toolUse("Read", { file_path: join(cwd, "note.txt") }),
      ]
    })
    agent = start("Begin with the records.")
    await once(agent, "close")
    expect(agent.signalCode).toBe("SIGKILL")
    const file = JSON.parse(readFileSync(join(cwd, ".claude-session-state.json"), "utf8")) as Record<string, unknown>
    expect(file).toMatchObject({ current_task: TASK, current_task_id: TASK_ID, last_completed_step: 2 })

    await home.kill()
    await home.run("start", "--set", "resume.onStart=off")
    const mail = await send("The crane is free again.")
    const urgent = await send("URGENT: the old host goes at noon.")

    model.script(() => [text("Fine.")])
    const { words, sessionId } = await firstRequest("Good morning.")
    for (const part of [TASK, TASK_ID, "last completed step: 2", "m-old"]) expect(words).toContain(part)
    expect(words).toContain(`[Session restarted. Previous session was working on: ${TASK}. Resume or start fresh?]`)
    expect(words).toContain(`${mail}, from the owner: "The crane is free again."`)
    expect(words).toContain(`${urgent} URGENT, from the owner: "URGENT: the old host goes at noon."`)

    const resumed = await firstRequest("And now?", "--resume", sessionId)
    expect(resumed.words.split("# The last session of this project").length, "told once").toBe(2)
  })

  test("cleared, it is reported to nobody", { timeout: SLOW_MS }, async () => {
    let isCleared = false
    model.script(async ({ tools, turn }) => {
      if (isCleared) return [text("Cleared.")]
      isCleared = tools.some((tool) => tool.name === SAVE)
      if (!isCleared) await sleep(300)
      if (turn > 60) return [text("The tool never came.")]
      return [isCleared ? toolUse(SAVE, { operation: "clear" }) : toolUse("Read", { file_path: join(cwd, "note.txt") })]
    })
    await firstRequest("Start fresh.")
    expect(isCleared).toBe(true)
    model.script(() => [text("Fine.")])
    const { words } = await firstRequest("Good evening.")
    expect(words).not.toContain(TASK)
    expect(words).toContain("The crane is free again.")
  })
})
