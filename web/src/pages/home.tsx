import { Empty } from "../ui/empty.tsx"

export function Home() {
  return <Empty title="Home" hint="" />
}
