import type { ask } from "../api.ts"
import { agentLabel, projectName } from "./agent.tsx"

export type Project = Awaited<ReturnType<typeof ask<"projects.list">>>["projects"][number]
export type Option = readonly [value: string, words: string]

/** Search filters, by their names in the URL. */
export const FILTERS = ["project", "branch", "agent", "role", "days"] as const
export type Filter = (typeof FILTERS)[number]

/** The option that filters nothing. */
export const ANY: Record<Filter, string> = {
  project: "Any project",
  branch: "Any branch",
  agent: "Any agent",
  role: "Anyone",
  days: "Any time",
}
export const NAMES: Record<Filter, string> = {
  project: "project",
  branch: "branch",
  agent: "agent",
  role: "role",
  days: "time",
}
export const ROLES: readonly Option[] = [
  ["user", "You"],
  ["assistant", "Agent"],
  ["thought", "Thoughts"],
  ["tool", "Tools"],
]
export const SPANS: readonly Option[] = [
  ["1", "Last day"],
  ["7", "Last week"],
  ["30", "Last month"],
  ["365", "Last year"],
]
/** The most recently used; a longer list is no help. */
const MOST_BRANCHES = 100

/** Sorted by name; projects that share a name show their parent folder. */
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

/** Of one project or of all, most recently used first. */
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

/** The URL with these parameters changed; an empty value removes one. */
export function addressWith(query: URLSearchParams, change: Record<string, string>): string {
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(change)) {
    if (value === "") next.delete(name)
    else next.set(name, value)
  }
  return `/search${next.size > 0 ? `?${next}` : ""}`
}

/** The active filters, each worded as part of a sentence. */
export function activeFilters(query: URLSearchParams): { filter: Filter; words: string }[] {
  return FILTERS.flatMap((filter) => {
    const value = query.get(filter)
    return value ? [{ filter, words: WORDS[filter](value) }] : []
  })
}

const wordsIn = (options: readonly Option[], value: string) => options.find(([key]) => key === value)?.[1] ?? value

const ROLE_WORDS: Record<string, string> = {
  user: "from you",
  assistant: "from the agent",
  thought: "in thoughts",
  tool: "in tool calls",
}

const WORDS: Record<Filter, (value: string) => string> = {
  project: (value) => `in ${projectName(value)}`,
  branch: (value) => `on branch ${value}`,
  agent: (value) => `with ${agentLabel(value)}`,
  role: (value) => ROLE_WORDS[value] ?? `from ${value}`,
  days: (value) => `in the ${wordsIn(SPANS, value).toLowerCase()}`,
}
