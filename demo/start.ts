import { setTimeout as sleep } from "node:timers/promises"
import { type DaemonCalls, ensureDaemon, runningDaemon, stopDaemon } from "../src/daemon/commands/connect.ts"
import { type Home, prepareHome } from "../src/daemon/process/home.ts"
import { VERSION } from "../src/daemon/version.ts"
import type { Registration } from "../src/daemon/wiring/registration.ts"
import { client } from "../src/surfaces/http/client.ts"
import { compose } from "./compose.ts"
import { clearPlace, type DemoPlace, isPlaceThere, madeBy, markMade, removePlace } from "./place.ts"
import { seed } from "./seed.ts"
import { leaveStuck } from "./stuck.ts"
import { closeTerminals } from "./terminal.ts"

const INDEXED_MS = 30_000
const POLL_MS = 50

export interface DemoStart {
  registration: Registration
  isNew: boolean
  /** The session that is proposed to be gone on with. */
  checkout: string
  /** Why no agent runs in a terminal, where that was tried and none does. */
  noTerminal?: string | undefined
}

const CHECKOUT = "checkout timeout"

/** Creates the demo and starts its daemon, or finds the running one. A stopped one is recreated: its timestamps are old. */
export async function startDemo(
  place: DemoPlace,
  home: Home,
  calls: DaemonCalls,
  { importing, say, env }: { importing(): Promise<void>; say(what: string): void; env: Env },
): Promise<DemoStart> {
  const found = async () => (await client(calls.call, { surface: "cli" })("resume", { which: CHECKOUT })).session.id
  // What is not there has nothing to be ended. Whoever makes it now is not us, and is found out below.
  if (isPlaceThere(place)) {
    const running = await runningDaemon(home)
    if (running && madeBy(place) === VERSION) return { registration: running, isNew: false, checkout: await found() }
    await end(home, env, true)
  }
  clearPlace(place)
  prepareHome(home)
  say("Writing two weeks of sessions of five agents …")
  const nowMs = Date.now()
  compose(place, nowMs)
  await leaveStuck(home, nowMs)
  const { registration } = await ensureDaemon(home)
  await importing()
  // Now the projects are known, in which Aider keeps its history.
  await client(calls.call, { surface: "cli" })("import", {})
  say("Letting four teams ask each other …")
  const { noTerminal } = await seed(calls.call, place, nowMs)
  await indexed(calls)
  say("")
  markMade(place, VERSION)
  return { registration, isNew: true, checkout: await found(), noTerminal }
}

/** True if there was one. */
export async function stopDemo(place: DemoPlace, home: Home, env: Env, force?: boolean): Promise<boolean> {
  if (!isPlaceThere(place)) return false
  const wasRunning = await end(home, env, force)
  const wasMade = madeBy(place) !== undefined
  removePlace(place)
  return wasRunning || wasMade
}

type Env = Record<string, string | undefined>

/** The daemon first: it would start its terminals again. */
async function end(home: Home, env: Env, force?: boolean): Promise<boolean> {
  const wasRunning = await stopDaemon(home, force)
  await closeTerminals(home, env)
  return wasRunning
}

/** The last messages can be found too. */
async function indexed({ call }: DaemonCalls): Promise<void> {
  for (const endMs = Date.now() + INDEXED_MS; Date.now() < endMs; await sleep(POLL_MS)) {
    const { search } = await client(call, { surface: "cli" })("status", {})
    if (search.behind === 0) return
  }
}

/** What a newcomer may type now; each line works as it stands. */
export function demoText({ dir }: DemoPlace, throughline: string, made: DemoStart): string {
  const { isNew, checkout, noTerminal } = made
  const tries: [command: string, what: string][] = [
    [`${throughline} dashboard --demo`, "live sessions, search, teams and analytics in the browser"],
    [`${throughline} search "why did we drop redis" --limit 3 --demo`, "search every agent's conversations"],
    [`${throughline} resume ${CHECKOUT} --demo`, "find a session and print the command that resumes it"],
    [`${throughline} handoff ${checkout.slice(0, 8)} --to codex --demo`, "continue that session in another agent"],
    [`${throughline} sessions live --demo`, "running agents: one needs you, one is in a terminal"],
    [`${throughline} permissions --demo`, "pending requests, and how to answer them"],
    [`${throughline} ask payments "where does a refund of a gift card go?" --demo`, "ask a team's agent"],
  ]
  return [
    isNew ? `Demo ready: a fictional shop, in ${dir}.` : `The demo is already running, in ${dir}.`,
    "Your own data is not read or changed. The agents are mocks: no model is called and no command is executed.",
    ...(noTerminal === undefined ? [] : [`No agent runs in a terminal: ${noTerminal}.`]),
    "",
    "Try:",
    ...tries.flatMap(([command, what]) => [`  ${command}`, `      ${what}`]),
    "",
    `Every command takes --demo. To stop and delete the demo: ${throughline} stop --demo`,
  ].join("\n")
}
