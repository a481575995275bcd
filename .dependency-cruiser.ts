// Which module may import what. If the check objects, move the code, not the table.
// Run by test/modules.test.ts; `npx depcruise --config .dependency-cruiser.ts src demo` runs it by hand.

import type { IConfiguration, IForbiddenRuleType } from "dependency-cruiser"

interface Module {
  imports: string[]
  /** Modules of which it may name types, and nothing else of them. */
  types?: string[]
  packages: string[] | "any"
  /** Whether it may import Node's own modules. */
  node: boolean
}

const ERROR = "error" as const
const MIDDLE = ["capture", "sessions", "search", "queue", "live", "messenger", "permissions", "teams", "setup"]
const middle: Module = { imports: ["domain", "lib"], packages: [], node: true }

/** By the folder's name. */
export const modules: Record<string, Module> = {
  domain: { imports: [], packages: ["zod"], node: false },
  // Mechanisms that everyone may use.
  lib: { imports: ["domain"], packages: ["diff"], node: true },
  store: { imports: ["domain", "lib"], packages: ["kysely", "better-sqlite3", "pg"], node: true },
  ...Object.fromEntries(MIDDLE.map((name) => [name, middle])),
  agents: { imports: ["domain", "lib"], packages: "any", node: true },
  adapters: { imports: ["domain", "lib"], packages: "any", node: true },
  // Loads nothing heavy, so that a command which only asks the daemon starts fast.
  operations: { imports: ["domain", "lib"], types: MIDDLE, packages: ["zod"], node: false },
  surfaces: {
    imports: ["domain", "lib", "operations"],
    packages: ["zod", "hono", "@hono", "commander", "@modelcontextprotocol"],
    node: true,
  },
  daemon: {
    imports: ["domain", "lib", "store", ...MIDDLE, "agents", "adapters", "operations", "surfaces", "demo"],
    packages: "any",
    node: true,
  },
}

const NODE_IN: Record<string, string> = { domain: /^src\/domain\/ids\.ts$/.source }
const names = (list: string[]) => `(?:${list.join("|")})`
const outside = (name: string, allowed: string[]) => {
  const inSrc = allowed.filter((one) => one !== "demo")
  return [
    `^src/(?!${names([name, ...inSrc])}/)`,
    ...(allowed.includes("demo") ? [] : ["^demo/"]),
    "^(?:test|bench|scripts|web|bin)/",
  ]
}

const rulesOf = ([name, { imports, types = [], packages, node }]: [string, Module]): IForbiddenRuleType[] => [
  {
    name: `${name} imports another module`,
    severity: ERROR,
    from: { path: `^src/${name}/`, pathNot: "\\.test\\.ts$" },
    to: { path: outside(name, [...imports, ...types]) },
  },
  ...(types.length > 0
    ? [
        {
          name: `${name} imports more than types of another module`,
          severity: ERROR,
          from: { path: `^src/${name}/`, pathNot: "\\.test\\.ts$" },
          to: { path: `^src/${names(types)}/`, dependencyTypesNot: ["type-only" as const] },
        },
      ]
    : []),
  ...(packages === "any"
    ? []
    : [
        {
          name: `${name} imports a package of another module`,
          severity: ERROR,
          from: { path: `^src/${name}/`, pathNot: "\\.test\\.ts$" },
          to: {
            path: "(?:^|/)node_modules/",
            ...(packages.length > 0 && { pathNot: `(?:^|/)node_modules/${names(packages)}/` }),
          },
        },
      ]),
  ...(node
    ? []
    : [
        {
          name: `${name} imports of Node`,
          severity: ERROR,
          from: { path: `^src/${name}/`, pathNot: ["\\.test\\.ts$", ...(NODE_IN[name] ? [NODE_IN[name]] : [])] },
          to: { dependencyTypes: ["core" as const] },
        },
      ]),
]

const KNOWN = names(Object.keys(modules))

const configuration: IConfiguration = {
  forbidden: [
    ...Object.entries(modules).flatMap(rulesOf),
    {
      name: "a folder that is no module",
      severity: ERROR,
      from: { path: `^src/(?!${KNOWN}/)` },
      to: {},
    },
    {
      name: "an agent imports another agent",
      comment: "What two agents need is in agents/shared; only the list names them all.",
      severity: ERROR,
      from: { path: "^src/agents/([^/]+)/", pathNot: "\\.test\\.ts$" },
      to: { path: "^src/agents/", pathNot: "^src/agents/(?:$1|shared)/" },
    },
    {
      name: "code that imports a test",
      severity: ERROR,
      from: { path: "^(?:src|demo)/", pathNot: "\\.test\\.ts$" },
      to: { path: "\\.test\\.ts$" },
    },
    {
      name: "an import that cannot be found",
      severity: ERROR,
      // The one package that people install themselves.
      from: { path: "^(?:src|demo)/", pathNot: "^src/adapters/embedders/transformers\\.ts$" },
      to: { couldNotResolve: true },
    },
    {
      name: "a cycle of imports",
      severity: ERROR,
      from: { path: "^(?:src|demo)/", pathNot: "\\.test\\.ts$" },
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
  ],
  options: {
    parser: "swc",
    tsPreCompilationDeps: true,
    doNotFollow: { path: "^(?:node_modules|test|bench|scripts)/" },
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default", "types"] },
    skipAnalysisNotInRules: true,
  },
}
export default configuration
