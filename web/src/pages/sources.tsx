import { Empty } from "../ui/empty.tsx"

export function Sources() {
  return <Empty title="Sources" hint="" />
}
