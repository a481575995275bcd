/** Dropped words in names and comments of src: whole words, or parts of a name in camelCase. */
const RETIRED_NAMES =
  /courier|foundling|follower|rung(?![a-z])|ladder|parking|afterword|greeting|successor|chapter|stand-?in(?![a-z])|waiter|(?<!tri|fro|recom)mend(?:s|ed|ing)?(?![a-z])|anew|oneByOne|havingAll|readAgain|isSpared|shelf|(?<![a-z])wish|(?<!")handOver|handedOver|hand-over|for good\b|at the most\b|by itself\b|goes on with\b|stands? in\b|lies? in\b|taken back|kept up|attendance|belonging/gi

/** Names on disk: a column and its value, a field of copied records or of an answer, a table, a turn's text. They stay as they were released. */
const STORED_NAMES =
  /"handover"|"Compacted by itself"|\bhandedOver:|record\.handedOver|"followers(?:\.position)?"|\bfollowers: |\bfoundlings: |handedOverAtMs|\brung\b|\bwaiter\b/g

export function retiredNamesIn(source: string): string[] {
  return source.replaceAll(STORED_NAMES, "").match(RETIRED_NAMES) ?? []
}
