import { expect, test } from "vitest"
import { announcement, missingInstalls } from "../scripts/installs.ts"

const here = { isOnPath: () => true, mayInstallPackages: true, hasAgents: true }

test("nothing is announced when everything is there", () => {
  expect(announcement(missingInstalls(here))).toBeUndefined()
})

test("packages and agents are announced before they are installed", () => {
  const missing = missingInstalls({ ...here, isOnPath: (name) => name !== "tmux", hasAgents: false })
  expect(missing).toEqual({ packages: ["tmux"], unavailable: [], agents: true })
  expect(announcement(missing)).toMatch(/will install Debian packages system-wide: tmux\n.*agents.*1\.6 GB/)
})

test("without the right to install packages they are named, and nothing is installed", () => {
  const missing = missingInstalls({ ...here, isOnPath: (name) => name !== "zsh", mayInstallPackages: false })
  expect(missing).toEqual({ packages: [], unavailable: ["zsh"], agents: false })
  expect(announcement(missing)).toContain("missing: zsh")
})
