import * as z from "zod"
import { operation } from "./operation.ts"

export const status = operation({
  name: "status",
  summary: "Show what the daemon does and keeps",
  effect: "read",
  on: ["cli", "http"],
  startsDaemon: false,
  input: z.strictObject({}),
  output: z.object({
    id: z.string(),
    version: z.string(),
    pid: z.number(),
    startedAt: z.string(),
    home: z.string(),
    socket: z.string(),
    http: z.object({ url: z.string().optional(), trouble: z.string().optional() }),
    memoryMb: z.number(),
    store: z.object({
      kind: z.string(),
      place: z.string(),
      version: z.string(),
      sizeBytes: z.number(),
      sessions: z.number(),
      thoughts: z.number(),
      journal: z.number(),
    }),
    followers: z.array(z.object({ name: z.string(), lag: z.number() })),
    notices: z.array(z.string()),
  }),
  text: (s) =>
    [
      `Throughline ${s.version} is running (pid ${s.pid}, since ${s.startedAt.slice(0, 16).replace("T", " ")}, ${s.memoryMb} MB)`,
      `  home    ${s.home}`,
      `  socket  ${s.socket}`,
      `  http    ${s.http.url ?? s.http.trouble ?? "off"}`,
      `  store   ${s.store.kind} ${s.store.version}, ${(s.store.sizeBytes / 1e6).toFixed(1)} MB, ${s.store.place}`,
      `  kept    ${s.store.sessions} sessions, ${s.store.thoughts} thoughts, ${s.store.journal} journal entries`,
      ...s.followers.map((f) => `  ${f.name.padEnd(7)} ${f.lag === 0 ? "up to date" : `${f.lag} entries behind`}`),
      ...s.notices.map((notice) => `  !       ${notice}`),
    ].join("\n"),
  run: ({ system }) => system.status(),
})
