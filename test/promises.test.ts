import { readFileSync } from "node:fs"
import { glob } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { promises } from "./promises.ts"

const project = fileURLToPath(new URL("..", import.meta.url))
const CITATION = /\bproves\(\s*"([^"]*)"/g

/** The promises that tests cite, and where. */
async function citations(): Promise<{ id: string; file: string }[]> {
  const files = await Array.fromAsync(
    glob(["src/**/*.test.ts", "test/**/*.ts"], { cwd: project, exclude: ["**/node_modules/**", "test/promises*.ts"] }),
  )
  return files.flatMap((file) =>
    [...readFileSync(`${project}/${file}`, "utf8").matchAll(CITATION)].map((match) => ({ id: match[1]!, file })),
  )
}

test("every promise is proved by a test", async () => {
  const proved = new Set((await citations()).map(({ id }) => id))
  expect(Object.keys(promises).filter((id) => !proved.has(id))).toEqual([])
})

test("every promise that a test cites is made", async () => {
  expect((await citations()).filter(({ id }) => !Object.hasOwn(promises, id))).toEqual([])
})
