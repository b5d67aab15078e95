/** Which service of the host programs go through, and what is in the way of the REPL there. */
import type { Context } from '@deepseek-ai/cordis'
import type { ReplSeam } from '../../runtime/repl-seam.ts'

/** On the service that the row `repl-runtime` provides. */
export const ownRuntime: unique symbol = Symbol.for('outrigger.repl-runtime')

export type Seam = Pick<ReplSeam, 'seam' | 'degraded'>

/** Asked when a prompt is put together: rows mount concurrently. */
export function seamOf(ctx: Context): Seam {
  const runtime = ctx.get('codeRuntime') as { readonly [ownRuntime]?: true } | undefined
  if (runtime?.[ownRuntime] === true) return { seam: 'codeRuntime', degraded: [] }
  if (ctx.get('ptcRuntime') !== undefined) {
    return {
      seam: 'ptcRuntime',
      degraded: ['this host runs programs through ptcRuntime, which this version does not serve; they run without the REPL'],
    }
  }
  if (runtime !== undefined) {
    return {
      seam: 'other',
      degraded: [
        'programs go to the code runtime of another row; they run without the REPL. Is the row outrigger-repl-runtime mounted?',
      ],
    }
  }
  return {
    seam: 'none',
    degraded: ['no code seam: the host has no service for programs, so there is nothing the REPL could serve'],
  }
}

/** What `run_code` lacks or has too much, for cells of a REPL; `undefined`: it fits. */
export function differenceOf(parameters: unknown): string | undefined {
  const { properties, required = [] } = (parameters ?? {}) as {
    readonly properties?: Readonly<Record<string, { readonly type?: unknown } | undefined>>
    readonly required?: readonly string[]
  }
  if (properties?.['code']?.type !== 'string') return 'it takes no text `code`'
  if (!required.includes('code')) return '`code` may be left out'
  const { description } = properties
  if (description !== undefined && description.type !== 'string') return '`description` is no text'
  const others = required.filter(name => name !== 'code' && name !== 'description')
  return others.length === 0 ? undefined : `it needs ${others.map(name => `\`${name}\``).join(', ')}, too`
}
