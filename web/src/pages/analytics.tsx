import { Empty } from "../ui/empty.tsx"

export function Analytics() {
  return <Empty title="Analytics" hint="" />
}
