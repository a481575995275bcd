export const DECLARED = /^export (?:declare )?(?:abstract )?(?:type|interface|class|enum) (\w+)/gm

/** Each name of an exported type that is declared in more than one place, with those places. */
export function declaredTwice(sources: Iterable<readonly [file: string, text: string]>): string[] {
  const places = new Map<string, string[]>()
  for (const [file, text] of sources)
    for (const [, name] of text.matchAll(DECLARED)) places.set(name!, [...(places.get(name!) ?? []), file])
  return [...places].filter(([, files]) => files.length > 1).map(([name, files]) => `${name}: ${files.join(", ")}`)
}
