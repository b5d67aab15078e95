/** Edits of cells that were sent before. */
export { decodeEditRequest } from './decode.ts'
export { chooseTarget, type Edited, editSource } from './edit.ts'
export { type FindMatches, isRefused, type MatchOutcome } from './find.ts'
export type {
  Change,
  EditCode,
  EditError,
  EditRequest,
  ExactEdit,
  InsertEdit,
  Refused,
  RegexEdit,
} from './request.ts'
export type { FoundMatch } from './template.ts'
