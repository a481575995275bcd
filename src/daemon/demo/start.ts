import { setTimeout as sleep } from "node:timers/promises"
import { client } from "../../surfaces/client.ts"
import { type DaemonCalls, ensureDaemon, runningDaemon, stopDaemon } from "../connect.ts"
import { type Home, prepareHome } from "../home.ts"
import type { Registration } from "../registration.ts"
import { VERSION } from "../version.ts"
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

/** Makes the demo and starts its daemon, or finds the one that runs. One that does not run is made anew: its times are old. */
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
  say("Writing two weeks of five agents' sessions …")
  const nowMs = Date.now()
  compose(place, nowMs)
  await leaveStuck(home, nowMs)
  const { registration } = await ensureDaemon(home)
  await importing()
  // Now the projects are known, in which Aider keeps its history.
  await client(calls.call, { surface: "cli" })("import", {})
  say("Four teams ask each other …")
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

/** What was said last can be found too. */
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
    [`${throughline} dashboard --demo`, "the page: live sessions, search, teams, analytics"],
    [`${throughline} search "why did we drop redis" --limit 3 --demo`, "what was said anywhere, by any agent"],
    [`${throughline} resume ${CHECKOUT} --demo`, "how to go on with the session that this is found in"],
    [
      `${throughline} handoff ${checkout.slice(0, 8)} --to codex --demo`,
      "the same session, for another agent to go on with",
    ],
    [`${throughline} sessions live --demo`, "agents that run: one waits for you, one sits in a terminal"],
    [`${throughline} permissions --demo`, "what it asks; it shows how to answer"],
    [`${throughline} ask payments "where does a refund of a gift card go?" --demo`, "ask a team's agent"],
  ]
  return [
    isNew ? `The demo is there: a made-up shop, in ${dir}.` : `The demo runs already, in ${dir}.`,
    "Nothing of yours is read or changed. Its agents are stand-ins: no model is asked, nothing they want to run is run.",
    ...(noTerminal === undefined ? [] : [`No agent of it sits in a terminal: ${noTerminal}.`]),
    "",
    "Try:",
    ...tries.flatMap(([command, what]) => [`  ${command}`, `      ${what}`]),
    "",
    `Every command takes --demo. To end it and throw it away: ${throughline} stop --demo`,
  ].join("\n")
}
