/** `using` and `await using` where the engine lacks them: a list of what to dispose, and the rest of the block in `try`. */
import type { Handler } from './walk.ts'

export const usingHandlers: Readonly<Record<string, Handler>> = {}
