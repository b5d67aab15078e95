/**
 * Words that decide: what is no step, what asks the person, what needs a person's Run. Rows and one loop each; a new row
 * needs a real text that went wrong and a test. In doubt the loop holds.
 */

export interface QuietRow {
  readonly reason: string
  /** @param words - case-folded, punctuation as spaces. @param text - as it is. */
  readonly test: (words: string, text: string) => boolean
}

const consentWords = new Set(
  (
    'yes yep yeah no nope ok okay sure fine approve approved approval granted confirm confirmed agree agreed lgtm please do it that this go ahead ' +
    'continue proceed keep going carry on and with then now i we'
  ).split(' '),
)

const starts = (pattern: string) => {
  const regex = new RegExp(`^(?:${pattern})(?: |$)`)
  return (words: string) => regex.test(words)
}

const nothing = new RegExp(
  '^(?:none|n a|nothing|nothing (?:to do|else|to recommend|else to do)|no next steps?|no suggestions?|no further (?:actions?|steps?)|' +
    '(?:all )?(?:done|complete|completed|finished)|the task is (?:done|complete)|wait)$',
)
const praise = starts('thanks|thank you|well done|good (?:job|work)|(?:it |that |this )?(?:looks|sounds) good')
const barePraise = /^(?:great|nice|perfect|excellent|awesome)(?=[\p{P}\p{S}]|\s*$)/iu
const voice = starts(
  'i ll|i will|i m going to|let me|would you like|do you want|shall i|should i|want me to|i can(?! t\\b)|i could|i have|i ve',
)
const meta = starts(
  'as an ai|i cannot|i can t|sorry|i m sorry|here is|here s|based on (?:the|this) (?:conversation|session)|(?:the|this) conversation|' +
    'the (?:user|assistant|agent) (?:wants|should|asked|would|needs|has|is|may|can)',
)

export const quietRows: readonly QuietRow[] = [
  { reason: 'nothing', test: words => nothing.test(words) },
  { reason: 'filtered:consent', test: words => words.split(' ').every(word => consentWords.has(word)) },
  { reason: 'filtered:praise', test: (words, text) => praise(words) || barePraise.test(text) },
  { reason: 'filtered:voice', test: voice },
  { reason: 'filtered:meta', test: meta },
  { reason: 'filtered:format', test: (_, text) => isFormat(text) },
]

function isFormat(text: string): boolean {
  if (/^<[/!?]?[A-Za-z][^<>]*>/.test(text) || /^\|.*\|$/.test(text)) return true
  if (!/^[[{"]|^(?:true|false|null|-?\d[\d.eE+-]*)$/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    // No JSON value: the text itself counts.
    return false
  }
}

/** A sentence that only closes: nobody waits for its answer. */
export const closers: readonly RegExp[] = [
  /\banything else\b/i,
  /\blet me know (?:if|when|whenever|should)\b(?!.*\b(?:which|whether)\b)/i,
  /\bfeel free\b/i,
  /\bhappy to\b.*\bif\b/i,
  /^(?:so,? )?what(?:'|’)?s next\b/i,
  /^what is next\b/i,
  /\bwhat should i do next\b/i,
  /\bwhat would you like (?:me )?(?:to )?(?:do )?next\b/i,
]

/** How a sentence that speaks to the person begins. */
export const asksAtStart: RegExp = /^(?:shall|should|can|could|may|do|would|which|want|ok|okay|is it ok|is it okay|are you)\b/i
/** What it has inside. */
export const asksInside: RegExp = /\b(?:you|your|(?:shall|should|may|can) (?:i|we))\b/i

/** Asks without a question mark. */
export const pleas: readonly RegExp[] = [
  /\bplease (?:confirm|choose|decide|advise)\b/i,
  /\blet me know (?:which|what|how|whether|when|your)\b/i,
  /\bwaiting for you/i,
  /\bawaiting your\b/i,
  /\bneed your (?:approval|decision|input|confirmation|permission|answer)\b/i,
  /\b(?:before|until) (?:i|we) (?:proceed|continue)\b/i,
  /\byour call\b/i,
  /\bup to you\b/i,
  /\(y\/n\)/i,
]

/** Bare permission to go on. */
export const permission: RegExp =
  /^(?:ok,? |okay,? |so,? )?(?:shall|should|may|can|do you want me to|would you like me to|want me to|is it ok(?:ay)? (?:if|for me to)|ready for me to)\s*(?:i|we)?\s*(?:to )?(?:go ahead|continue|proceed|carry on|keep going|move on|start|go on)\b/i

export interface RiskRow {
  readonly rule: string
  readonly pattern: RegExp
}

/** What needs a person's Run. Every run between two words is bounded. */
export const riskRows: readonly RiskRow[] = [
  { rule: 'rm', pattern: /\brm\s+(?:\S{1,80}\s+){0,4}-{1,2}(?:[a-z]*[rRf]|recursive|force)/i },
  { rule: 'force', pattern: /--force\b|\bforce[- ]?push/i },
  { rule: 'no-verify', pattern: /--no-verify\b/i },
  {
    rule: 'git',
    pattern: /\bgit\s+(?:-\S{1,80}\s+(?:\S{1,80}\s+)?){0,3}(?:push|clean|rebase|reset\s+(?:\S{1,80}\s+){0,3}--hard)\b/i,
  },
  { rule: 'sudo', pattern: /\bsudo\b/i },
  { rule: 'chmod', pattern: /\bchmod\s+(?:-\S{1,20}\s+)?0?777\b/i },
  { rule: 'pipe-to-shell', pattern: /\b(?:curl|wget)\b[^\n]{0,400}\|\s*(?:sudo\s+)?(?:\S{0,20}\/)?(?:ba|z|da|k)?sh\b/i },
  {
    rule: 'destroy',
    pattern:
      /\b(?:(?:delet|eras|destroy|purg|drop|truncat)(?:e|es|ed|ing|s|ping|ped)?|wip(?:es?|ed|ing))\b[^\n]{0,120}\b(?:tables?|databases?|db|schemas?|buckets?|volumes?|branch(?:es)?|repos?|repositor(?:y|ies)|accounts?|users?|data|backups?|director(?:y|ies)|folders?|files?)\b/i,
  },
  {
    rule: 'ship',
    pattern:
      /\b(?:deploy|publish)(?:s|es|ed|ing)?\b|\bpush(?:es|ing)?\b|\bmerg(?:e|es|ing)\b[^\n]{0,120}\b(?:main|master|branch|prs?|pull requests?)\b|\b(?:cut|creat|mak)(?:e|es|ing|ting)?\b[^\n]{0,40}\breleases?\b/i,
  },
  { rule: 'production', pattern: /\bprod(?:uction)?\b/i },
  {
    rule: 'reveal',
    pattern:
      /\b(?:(?:print|show|send|upload|export|commit|rotat)(?:e|es|s|ing|ting)?|past(?:es?|ing))\b[^\n]{0,120}\b(?:passwords?|credentials?|secrets?|api[ _-]?keys?|tokens?)\b/i,
  },
  {
    rule: 'weaken',
    pattern:
      /\b(?:disabl|skip|remov|delet|bypass)(?:e|es|s|ing|ping)?\b[^\n]{0,120}\b(?:tests?|checks?|hooks?|guards?|lint(?:er|ing)?|sandbox(?:es|ing)?|permissions?)\b/i,
  },
]
