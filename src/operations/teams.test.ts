import { expect, test } from "vitest"
import type { Style } from "./operation.ts"
import { teamsList } from "./teams.ts"

const ESC = "\u001b"
const plain = (text: string) => text
const style: Style = {
  ...{ bold: plain, dim: plain, accent: plain, mark: plain, columns: 80 },
  paint: (hex, text) => `<${hex} ${text}>`,
}
const team = (name: string, more: object = {}) => ({
  ...{ name, project: `/p/${name}`, platform: "codex", permissionMode: "default", whenAway: "keep" },
  ...{ state: "down", kept: false, ...more },
})

test("a team's colour is a square before its line, and is written out where there are no colours", () => {
  const answer = { teams: [team("web", { color: "#E91E63" }), team("api")], troubles: [] }
  expect(teamsList.text(answer, {}).split("\n")).toEqual([
    "NAME  AGENT  SESSION  COLOR    PROJECT  NOTE",
    "web   codex  stopped  #E91E63  /p/web   ",
    "api   codex  stopped  -        /p/api   ",
  ])
  expect(teamsList.styled!(answer, style).split("\n")).toEqual([
    "  NAME  AGENT  SESSION  COLOR    PROJECT  NOTE",
    "<#E91E63 ■> web   codex  stopped  #E91E63  /p/web   ",
    "  api   codex  stopped  -        /p/api   ",
  ])
})

test("no note or trouble does anything to the terminal, nor makes a line of its own", () => {
  const answer = {
    teams: [team("web", { color: "#fff", note: `a\n${ESC}[2Jb` })],
    troubles: [`gone: ${ESC}]0;x\u0007`],
  }
  const styled = teamsList.styled!(answer, style)
  expect(styled).not.toContain(ESC)
  expect(styled.split("\n")).toHaveLength(3)
})
