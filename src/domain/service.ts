/** What starts the daemon when its owner logs in: one file for the system's own manager of programs, and words for that. */
export interface ServiceManager {
  id: string
  /** The file. Its name differs per data directory, so two do not collide. */
  path: string
  /** Its content. */
  text(program: ServiceProgram): string
  /** Whether the manager answers here. In containers it often does not run. */
  isReachable(): Promise<boolean>
  isActive(): Promise<boolean>
  /** What makes it read the file and start the program, now and after each login, in order. */
  begin: readonly (readonly string[])[]
  /** What ends the program and makes the manager forget it. */
  end: readonly (readonly string[])[]
  /** After the file was removed. */
  forget: readonly (readonly string[])[]
  run(command: readonly string[]): Promise<Ran>
  /** What else a person has to do so that it runs without anybody who is logged in. */
  hint(): Promise<string | undefined>
  /** Where to look when it does not start. */
  logs: string
}

export interface ServiceProgram {
  argv: readonly string[]
  env: Readonly<Record<string, string>>
}

export interface Ran {
  code: number
  stdout: string
  stderr: string
}

/** By this line a file is known to be ours: no other is overwritten or removed. */
export const SERVICE_MARK = "Written by `throughline service install`; `throughline service uninstall` removes it."
