import { Empty } from "../ui/empty.tsx"

export function Teams() {
  return <Empty title="Teams" hint="" />
}
