import type { ask } from "../api.ts"
import { agentLabel, projectName } from "./agent.tsx"

export type Project = Awaited<ReturnType<typeof ask<"projects.list">>>["projects"][number]
export type Option = readonly [value: string, words: string]

/** What a search can be kept to, as it stands in the address. */
export const FILTERS = ["project", "branch", "agent", "role", "days"] as const
export type Filter = (typeof FILTERS)[number]

/** What it is when nothing is chosen. */
export const ANY: Record<Filter, string> = {
  project: "any project",
  branch: "any branch",
  agent: "any agent",
  role: "anybody",
  days: "any time",
}
export const ROLES: readonly Option[] = [
  ["user", "me"],
  ["assistant", "the agent"],
  ["thought", "thoughts"],
  ["tool", "tools"],
]
export const SPANS: readonly Option[] = [
  ["1", "last day"],
  ["7", "last week"],
  ["30", "last month"],
  ["365", "last year"],
]
/** More than these are no choice any more; those used last are the likely ones. */
const MOST_BRANCHES = 100

/** By name; where two have the same, with the folder that each lies in. */
export function projectOptions(projects: readonly Project[]): Option[] {
  const roots = projects.flatMap(({ project }) => (project === undefined ? [] : [project]))
  const count = Map.groupBy(roots, (root) => projectName(root))
  return roots
    .map((root): Option => {
      const name = projectName(root)
      const isShared = count.get(name)!.length > 1
      return [root, isShared ? `${name} (${projectName(root.slice(0, root.lastIndexOf("/")))})` : name]
    })
    .sort(([, a], [, b]) => a.localeCompare(b))
}

/** Of one project, or of all; those used last first. */
export function branchOptions(projects: readonly Project[], project: string | undefined): Option[] {
  const branches = projects
    .filter((one) => project === undefined || one.project === project)
    .flatMap((one) => one.branches)
    .toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
  return [...new Set(branches.map(({ branch }) => branch))].slice(0, MOST_BRANCHES).map((branch) => [branch, branch])
}

export function agentOptions(projects: readonly Project[]): Option[] {
  const all = new Set(projects.flatMap(({ agents }) => agents.map(({ platform }) => platform)))
  return [...all].map((platform): Option => [platform, agentLabel(platform)]).sort(([, a], [, b]) => a.localeCompare(b))
}

/** The address with one thing changed; an empty value takes it out. */
export function addressWith(query: URLSearchParams, change: Record<string, string>): string {
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(change)) {
    if (value === "") next.delete(name)
    else next.set(name, value)
  }
  return `/search${next.size > 0 ? `?${next}` : ""}`
}

/** Which filters are set, each as a part of a sentence. */
export function activeFilters(query: URLSearchParams): { filter: Filter; words: string }[] {
  return FILTERS.flatMap((filter) => {
    const value = query.get(filter)
    return value ? [{ filter, words: WORDS[filter](value) }] : []
  })
}

const wordsIn = (options: readonly Option[], value: string) => options.find(([key]) => key === value)?.[1] ?? value

const WORDS: Record<Filter, (value: string) => string> = {
  project: (value) => `in ${projectName(value)}`,
  branch: (value) => `on branch ${value}`,
  agent: (value) => `with ${agentLabel(value)}`,
  role: (value) => (value === "thought" ? "in thoughts" : `said by ${wordsIn(ROLES, value)}`),
  days: (value) => `in the ${wordsIn(SPANS, value)}`,
}
