/** Common irregular English forms. Forms with a second everyday meaning are left out. */
export const IRREGULAR: ReadonlyMap<string, string> = new Map(
  `
arise arose arisen|awake awoke awoken|bear bore borne|beat beaten|become became|begin began begun|bend bent
bind bound|bite bit bitten|bleed bled|blow blew blown|break broke broken|breed bred|bring brought|build built
burn burnt|buy bought|catch caught|choose chose chosen|cling clung|come came|creep crept|deal dealt|dig dug
draw drew drawn|dream dreamt|drink drank|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt
fight fought|find found|flee fled|fly flew flown|forbid forbade forbidden|forget forgot forgotten
forgive forgave forgiven|freeze froze frozen|get got gotten|give gave given|go went gone goes|grow grew grown
hang hung|hear heard|hide hid hidden|hold held|keep kept|know knew known|lead led|learn learnt|lend lent|lose lost
make made|mean meant|meet met|mistake mistook mistaken|overcome overcame|override overrode overridden
overwrite overwrote overwritten|pay paid|rebuild rebuilt|rewrite rewrote rewritten|rerun reran|ride rode ridden
ring rang|rise risen|run ran|say said|see saw seen|seek sought|sell sold|send sent|shake shook shaken|shoot shot
show shown|shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid|speak spoke spoken
speed sped|spend spent|spin spun|spring sprang sprung|stand stood|steal stole stolen|stick stuck|strike struck
swear swore sworn|sweep swept|swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told
think thought thoughts|throw threw thrown|understand understood|undo undid undone|uphold upheld|wake woke woken
wear wore worn|weave wove woven|weep wept|win won|withdraw withdrew withdrawn|withhold withheld
write wrote written|child children|foot feet|goose geese|man men|mouse mice|tooth teeth|woman women|wife wives
knife knives|shelf shelves|thief thieves|wolf wolves|half halves|index indices|vertex vertices|matrix matrices
appendix appendices|analysis analyses|basis bases|crisis crises|hypothesis hypotheses|thesis theses
criterion criteria|phenomenon phenomena|schema schemata|bad worse worst
`
    .trim()
    .split(/[|\n]/)
    .flatMap((group) => {
      const [base, ...forms] = group.split(" ")
      return forms.map((form) => [form, base!] as const)
    }),
)
