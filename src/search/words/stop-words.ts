import { stem } from "./stem.ts"

/** Words that occur in every text. They are indexed, but weigh little in a query with other words. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word)
}

const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    "a an the this that these those and or but nor so as if then than because while of at by for with about into onto",
    "to from in on over under between during through up down out off i me my mine we us our ours you your yours he him",
    "his she her hers it its they them their theirs myself yourself itself themselves who whom whose which what when",
    "where why how there here be am is are was were been being have has had having do does did doing done can could",
    "will would shall should might must not no nor yes too very just also only own same such both each any some all",
    "dont doesnt didnt cant couldnt wont wouldnt shouldnt isnt arent wasnt werent hasnt havent hadnt",
    "please tell im ive",
  ].flatMap((line) => line.split(" ").map(stem)),
)
