/**
 * Sentences as in sessions of coding agents, with placeholders for their subject:
 * N noun, NS plural, V verb, VG -ing, VD -ed, VS -s, A adjective, R adverb, I identifier, F file, T term of the topic,
 * M module of the project, X rare word, D number, P person, E error.
 */
export const PROMPTS = [
  "yes, {V} it, but without any {X} {NS} please",
  "How many {NS} does {M} {V} when {T} is {A}?",
  "ok and what about {I}?",
  "Use {T} for this, as we did for {X} {NS} in {F}.",
  "Can you {V} the {N} in {F} so that it does not {V} the {A} {N}?",
  "I get {E} when I {V} the {N}, but only after {VG} it from {M}.",
  "Please {V} {I} and make sure the {X} {NS} are still {VD} by the {N} in {F}.",
  "Why does the {N} {V} {R} when we {V} a {A} {X} to {M}?",
  "We agreed with {P} to {V} the {T} {N} before the {N} is {VD}, so do that first.",
  "The {N} should not {V} more than {D} {NS}; at the moment it {VS} all of them and the {X} {N} is {VD}.",
  "Now also {V} the case where the {N} is {A} or the {X} has been {VD} by {P}.",
  "Have a look at {F} and tell me whether {I} is the right place to {V} the {N}.",
  "What did we decide about the {A} {N} of {M}, and where is it {VD}?",
  "It works on my machine, but in the {T} job the {N} is {VD} and the {X} never comes back.",
  "I would like to {V} {M} without {VG} the {N}; is there a way to keep the {X} {NS}?",
  "Write a test that {VS} the {N} when {I} gets {D} {A} {NS} at once.",
  "{P} says that the {X} {N} is too {A} for the {NS} that we {V} from {T}.",
  "Do not touch {F}; the {N} there is {VD} by another team and they {V} it next week.",
  "As a user I want to {V} my {X} {NS}, to see which of them are {A}, and to {V} the rest.",
]

export const REPLIES = [
  "Done; {I} is no longer {VD}, and {M} has one {A} {N} less.",
  "Both {NS} were {VD} by {P} on Monday, with {D} {X} {NS} still open.",
  "No {N} is {VD} there: {T} already {VS} it as {A} {N}.",
  "{M} keeps its {X} {N} for {D} {NS}, then {VS} it.",
  "We have {D} {A} {NS} like that one, some in {F} and some under {M}.",
  "That would {V} your {X} {NS}, which nobody {VS} any more.",
  "Each {N} was {VD} with an {A} {X}, not with a {N} as one might think.",
  "How {A} it gets will depend on {T}, on your {N} and on {D} {X} {NS}.",
  "I {VD} the {N} in {F} so that it {VS} the {A} {N} before it {VS} {I}.",
  "The reason is that {I} {VS} the {X} {N} {R}, and the {N} is then {VD} by {M} with a {A} {N}.",
  "There are two ways to {V} this: {V} the {N} where it is {VD}, or {V} the {X} in {F} and leave the rest as it is.",
  "All {D} tests pass, and the {N} of {M} is {VD} {R} instead of on every {N}.",
  "I have not {VD} the {A} {NS}, because the {T} {N} expects them to be {VD} by the {X}.",
  "What is left to do: {V} the {NS} in {F}, and decide whether {I} may {V} a {A} {N}.",
  "Since the {N} is {A}, {VG} it in {I} would {V} the {X} {NS} that {P} {VD} in the last release.",
  "The {X} {N} {VS} at most {D} {NS}, which is enough for the {T} {N} but not for the {A} one.",
  "You can {V} it with the new option, and the old {N} keeps {VG} the {NS} until they are {VD}.",
  "In short, {M} now {VS} the {N} first and the {X} later, so that a {A} {N} is never {VD} twice.",
  "This was {VD} by {I}: it {VS} a {N} for each {X}, and nobody {VS} them when the {N} is {VD}.",
  "I kept the {N} of {F} because other {NS} are {VD} from it, and {VD} only the {A} part.",
  "If the {X} is {A}, the {N} falls back to {T} and {VS} the {NS} from {M}.",
  "Note that the {N} has to be {VD} before you {V} {I}, otherwise {E} comes back.",
  "The change to {F} is small: {D} lines, and none of them {VS} the {X} {N} that {P} asked about.",
  "With that in place the {N} takes {D} ms instead of {D} ms for a {A} {N} of {D} {NS}.",
  "We decided to {V} the {X} by its {N} and not by the {A} {N}, because {T} does not {V} it for us.",
  "It is worth {VG} the {NS} as well, but that is a {A} change and I would do it on its own.",
]

export const REASONING = [
  "{I} has {D} callers, two of which {V} {X} {NS} on their own.",
  "So {M} is {A}, as was said before, and this {N} cannot be {VD} from there.",
  "Maybe {P} meant {T}? Then no {N} has to be {VD} at all.",
  "The user wants to {V} the {N}, which means that {I} has to {V} the {X} {R}.",
  "Let me check whether {F} {VS} the {A} {N} or whether it is {VD} somewhere in {M}.",
  "Hmm, the {N} is {VD} twice: once by {I} and once when the {X} {N} is {VG} its {NS}.",
  "If I {V} the {N} here, the {T} {N} will not see it until the {X} is {VD}.",
  "First I need to {V} the {NS}, then {V} {I}, and at the end run the tests for the {A} {N}.",
  "It could also be that {E} comes from the {X} and not from the {N} that {P} named.",
  "The {A} {N} in {F} looks right, so the {X} must be {VD} before it gets to {M}.",
  "Perhaps it is simpler to {V} the {X} {N} and to leave {I} to the {NS} that need it.",
  "But wait: the {N} of {M} is {A}, so {VG} it with {D} {NS} would {V} the {X}.",
  "I should not {V} {F} because the user said that the {N} there is not to be {VD}.",
  "That explains the {N}: {I} {VS} the {X} only when the {N} is {A}, and in the test it never is.",
]

export const DOCUMENTATION = [
  "The {N} of {M} is {VD} by {I} and {VS} every {A} {N} that is {VD} to it.",
  "To {V} the {X}, set the {N} to {D} and {V} the {N} before it is {VD} by {T}.",
  "A {A} {N} must not be {VD} while the {NS} of the {X} are {VD}.",
  "Use {I} when the {N} has to {V} more than {D} {NS}, and the {X} {N} when it does not.",
  "For each {X} there is one {N} in {F}, which is {VD} {R} and never {VD} by hand.",
  "The {T} {N} is optional: without it, {M} {VS} the {NS} and {VS} the {X} itself.",
  "When {E} is {VD}, the {N} is {VD} again after {D} seconds, and the {A} {X} is kept as it was.",
  "This section describes how to {V} a {N} from {T} to {M} without {VG} the {X} {NS}.",
  "It is an error to {V} the {N} of a {X} that is already {A}.",
]

export const TASKS = [
  "{V} the {A} {N} in {F}",
  "{V} {I} and {V} the {X} {NS} to the {N}",
  "Run the tests of {M} to check the {X}",
  "{V} the {T} {N} for the {A} {X}",
  "Ask {P} whether the {N} of {M} is to be {VD}",
]

export const ERRORS = [
  "TypeError: Cannot read properties of undefined (reading '{W}')",
  "Error: {N} not {VD}: {X}",
  "ECONNREFUSED 127.0.0.1:{D}",
  "{W}Error: the {N} was {VD} with {D} {NS} left",
  "AssertionError: expected {D} to be {D}",
  "panic: {A} {N} in {W}",
  "a timeout after {D} ms",
  "SQLITE_BUSY: database is locked",
  "exit code {D}",
]

/** Statements; `{W}` is a word that is no part of a sentence. */
export const STATEMENTS = [
  "  const {W} = await {I}({W}, {D})",
  "  if ({W}.{W} === undefined) return {I}({W})",
  "export function {I}({W}: {C}, {W}: number): {C}[] {",
  "  // {L}",
  '  return {W}.map(({W}) => {I}({W}.{W}, "{X}"))',
  'import { {I}, {I} } from "./{M}/{W}.ts"',
  "  for (const {W} of {W}.{W}) {W}.push({I}({W}))",
  '  throw new {C}("{N} of {X} is not {VD}")',
  "def {U}({W}, {W}=None):",
  "    self.{U} = {W}.{U}({D})",
  "  /** {L} */",
  '  {W}: { {W}: {D}, {W}: "{X}", {W}: {I} },',
  "}",
  "",
]

/** What commands print. */
export const OUTPUT_LINES = [
  "{F}:{D}:{D}: {L}",
  "    at {C}.{I} ({F}:{D}:{D})",
  "{H} {L}",
  "-rw-r--r-- 1 dev dev {D}{D} {F}",
  "✓ {L} {D}ms",
  "✗ {L}",
  "2026-0{K}-1{K}T1{K}:2{K}:3{K}.{D}Z INFO {W} {I}: {N} {VD} to {X} id={H}",
  "[{W}] {VG} {N} {D}/{D} to {X}",
  "Modified: {F} (+{D} -{D})",
  '{"{W}":{D},"{W}":"{X}","{W}Id":"{H}"}',
  "WARN {W}: {E}",
]
