/** The offset of an anchor's rarest four characters. Affects speed only. */
export function rarestPart(anchor: string): number {
  // Four characters have no other part; most anchors are that short.
  if (anchor.length <= 4) return 0
  const rarity = (at: number) =>
    // The last character is followed by none.
    at + 1 < anchor.length ? RARITY[SORT_OF[anchor.charCodeAt(at)]! * SORTS + SORT_OF[anchor.charCodeAt(at + 1)]!]! : 0
  let [best, most] = [0, -1]
  for (let at = 0; at + 3 <= anchor.length; at++) {
    const sum = rarity(at) + rarity(at + 1) + rarity(at + 2)
    if (sum > most) [best, most] = [at, sum]
  }
  return best
}

/** One class per letter, then digits, `_` and `-`, blanks, and other signs. */
function sortOf(code: number): number {
  // Ignores case.
  const letter = (code | 32) - 97
  if (letter >= 0 && letter < 26 && code >= 65) return letter
  return code >= 48 && code <= 57 ? 26 : code === 95 || code === 45 ? 27 : code <= 32 ? 28 : 29
}

const SORTS = 30
const SORT_OF = Uint8Array.from({ length: 256 }, (_, code) => sortOf(code))
/** How rare each pair is in code and prose; 0 is most frequent. */
const RARITY = Uint8Array.from(
  `
543365463652337462224545474543 466636774474764775564777575665 365636734743672674534776674644
355426663765653575454667574533 352243454563224342225442474422 466645773775763774444777674634
566736554775545674554777776543 375727773776653675545777675544 453333477763322464227475745655
777747777777775777477667776986 676637674777757676566777776654 365425763763663576444567476543
346627774776454377465777776644 363334364655542465223567575522 544254574643314372433536776645
366527564773663472434777676654 777777777776777777773777776786 264415462755432573334567476533
453525642645553365224655475522 254425622664553473233666275422 545536574773436473436776775766
367737774777775777777777775875 477646744776644675567767775745 675757775777676377637777775654
666757776775645376557757776633 577757777777774777777777775874 445554666655656666656665662442
555554665766556575456578964455 232333442543333363223436543401 343334443454433363324446633400
`.replaceAll(/\s/g, ""),
  Number,
)
