import { ask } from "../api.ts"
import { go, query } from "../router.ts"
import { useAsk } from "./ask.ts"
import {
  ANY,
  activeFilters,
  addressWith,
  agentOptions,
  branchOptions,
  FILTERS,
  type Filter,
  type Option,
  projectOptions,
  ROLES,
  SPANS,
} from "./filters.ts"

export const setFilters = (change: Partial<Record<Filter | "q", string>>) =>
  go(addressWith(query.peek(), change), { replace: true })

export const NO_FILTERS = Object.fromEntries(FILTERS.map((filter) => [filter, ""]))

/** Search filters, with the options that exist in the archive. */
export function Choices() {
  const projects = useAsk(() => ask("projects.list", {})).value.value?.projects ?? []
  const project = query.value.get("project") ?? undefined
  const branches = branchOptions(projects, project)
  const toProject = (root: string) => {
    const branch = query.peek().get("branch")
    const isThere = root === "" || branchOptions(projects, root).some(([name]) => name === branch)
    setFilters({ project: root, ...(branch && !isThere && { branch: "" }) })
  }
  return (
    <fieldset class="filters" onFocusIn={inSight}>
      <legend class="sr-only">Filters</legend>
      <Choice filter="project" label="Project" options={projectOptions(projects)} onChange={toProject} />
      <Choice filter="branch" label="Branch" options={branches} />
      <Choice filter="agent" label="Agent" options={agentOptions(projects)} />
      <Choice filter="role" label="Role" options={ROLES} />
      <Choice filter="days" label="Time" options={SPANS} />
      {activeFilters(query.value).length > 1 && (
        <button type="button" class="button quiet" onClick={() => setFilters(NO_FILTERS)}>
          Clear all filters
        </button>
      )}
    </fieldset>
  )
}

/** On a phone the row scrolls, and browsers don't scroll a half-visible field into view on focus. */
const inSight = ({ target }: FocusEvent) => (target as Element).scrollIntoView({ block: "nearest", inline: "nearest" })

function Choice(props: { filter: Filter; label: string; options: readonly Option[]; onChange?(value: string): void }) {
  const { filter, label, options, onChange = (value) => setFilters({ [filter]: value }) } = props
  const value = query.value.get(filter) ?? ""
  const active = activeFilters(query.value).find((one) => one.filter === filter)
  // A bookmarked URL may name a project that is gone: show it anyway.
  const isListed = value === "" || options.some(([key]) => key === value)
  return (
    <span class="choice" data-active={active && true}>
      <select aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{ANY[filter]}</option>
        {!isListed && <option value={value}>{active?.words}</option>}
        {options.map(([key, words]) => (
          <option key={key} value={key}>
            {words}
          </option>
        ))}
      </select>
      {active && (
        <button type="button" aria-label={`Clear: ${active.words}`} onClick={() => onChange("")}>
          ✕
        </button>
      )}
    </span>
  )
}
