import * as z from "zod"
import { operation } from "./operation.ts"

export const dashboardKey = operation({
  name: "dashboard.key",
  summary: "Get a dashboard URL with a key: whoever has it acts as the owner there until the daemon stops",
  effect: "write",
  access: "owner",
  // `throughline dashboard` calls it.
  on: ["http"],
  input: z.strictObject({}),
  output: z.object({ url: z.string(), address: z.string() }),
  text: ({ address }) => address,
  async run({ system }) {
    const { url, key } = system.dashboard()
    return { url, address: `${url}/#token=${key}` }
  },
})
