import type { RpcPeer } from "./rpc.ts"

/** Processes shared by sessions: started with the first, closed with the last. */
export interface Hosts {
  /** The same process for the same key; a new one if it is gone. */
  take(key: string, start: () => Promise<RpcPeer>): Promise<HeldPeer>
  close(): Promise<void>
}

export interface HeldPeer {
  peer: RpcPeer
  release(options?: { isHanging?: boolean }): Promise<void>
}

export function hosts(): Hosts {
  const open = new Map<string, { peer: Promise<RpcPeer>; users: number }>()

  return {
    async take(key, start) {
      const known = open.get(key)
      const host = known ?? { peer: start(), users: 0 }
      const forget = () => {
        if (open.get(key) === host) open.delete(key)
      }
      if (!known) {
        open.set(key, host)
        host.peer.then((peer) => peer.gone.then(forget), forget)
      }
      host.users += 1
      const peer = await host.peer
      let isReleased = false
      return {
        peer,
        async release(options) {
          if (isReleased) return
          isReleased = true
          host.users -= 1
          if (host.users > 0) return
          forget()
          await peer.close(options)
        },
      }
    },
    async close() {
      const peers = await Promise.allSettled([...open.values()].map(({ peer }) => peer))
      await Promise.all(peers.map((peer) => (peer.status === "fulfilled" ? peer.value.close() : undefined)))
    },
  }
}
