import { Empty } from "../ui/empty.tsx"

export function Search() {
  return <Empty title="Search" hint="" />
}
