import type { ask } from "../api.ts"
import { Team } from "./team.tsx"

type Teams = Awaited<ReturnType<typeof ask<"teams_status">>>["teams"]

/** The owner, where a team would be. */
export const YOU = "you"

export const colourOf = (teams: Teams, name: string) => teams.find((team) => team.name === name)?.color

/** Who asks → who is asked. */
export function Pairing({ from = YOU, to, teams }: { from?: string | undefined; to: string; teams: Teams }) {
  return (
    <>
      <Team name={from} color={colourOf(teams, from)} /> → <Team name={to} color={colourOf(teams, to)} />
    </>
  )
}
