/** Runs work one at a time, in the order it was given; what fails does not stop what follows. */
export type Mutex = <T>(work: () => Promise<T>) => Promise<T>

export function makeMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }
}

/** One mutex per key: work under different keys runs side by side. */
export type KeyedMutex = <T>(key: string, work: () => Promise<T>) => Promise<T>

export function makeKeyedMutex(): KeyedMutex {
  const mutexes = new Map<string, { run: Mutex; pending: number }>()
  return async (key, work) => {
    const mutex = mutexes.get(key) ?? { run: makeMutex(), pending: 0 }
    mutexes.set(key, mutex)
    mutex.pending++
    try {
      return await mutex.run(work)
    } finally {
      if (--mutex.pending === 0) mutexes.delete(key)
    }
  }
}
