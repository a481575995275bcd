import { Empty } from "../ui/empty.tsx"

export function Session({ id }: { id: string }) {
  return <Empty title={id} hint="" />
}
