/**
 * The Claude Code door: the only file that names `$`. The host follows that object by reading the source, so every call
 * on it is written out, and a function that takes it is declared at the top of a file and not kept in a constant.
 * Only events are heard that the oldest supported program knows: an unknown name refuses the whole module.
 */
import { type ClaudeDoor, type Carried, createDoor } from './door.ts'
import { band, foldAnswer, type Make, reviewTree } from './draw.ts'
import type { Host, ModelAnswer } from './host.ts'
import { reviewPane } from './shown.ts'
import type { Dollar, HookEvent, Next, On } from './types.ts'

declare const h: Make

const commands = [
  ['keel', 'Documents that are behind their sources.', '[why <file> | scan | off | on]'],
  ['pack', 'Save what this line of work needs, or look at what is kept.', '[save | list | show | auto]'],
  ['unpack', 'Load the notes of a line of work.', '[stream]'],
  ['next', 'The suggested next step, and the loop.', '[run | arm | disarm | off | on]'],
  ['outrigger', 'How Outrigger is.', ''],
] as const

const own = [
  'keel',
  'pack',
  'unpack',
  'next',
  'outrigger',
  'outrigger:keel',
  'outrigger:pack',
  'outrigger:unpack',
  'outrigger:next',
  'outrigger:outrigger',
]

/** Everything that the door needs of the host, each a single call. */
function hostOf($: Dollar): Host {
  return {
    pluginRoot: $.plugin.root,
    session: () => $.session.id(),
    root: () => $.session.root(),
    now: () => $.clock.now(),
    program: () => $.env.get('OUTRIGGER_BIN'),
    markPresent: () => $.env.set('OUTRIGGER_MOD', '1'),
    exists: path => $.fs.exists(path),
    run: (argv, options) => $.process.run(argv, options),
    fetch: (url, init) => $.http.fetch(url, init),
    later: (ms, work) => {
      $.clock.after(ms, work)
    },
    toast: async (text, ms) => {
      await $.ui.toast(text, { timeoutMs: ms })
    },
    status: async text => {
      await $.ui.status(text)
    },
    openPane: async (id, title) => {
      await $.ui.open({ id, title, focus: true, closeOnEscape: true })
    },
    closePane: async id => {
      await $.ui.close(id)
    },
    redraw: async () => {
      await $.ui.invalidate('ui.render')
    },
    suggest: async text => {
      await $.prompt.suggest({ text })
    },
    fill: async text => {
      await $.prompt.fill({ text })
    },
    draft: async () => draftText(await $.prompt.read()),
    submit: async (text, asPerson) => $.prompt.submit(asPerson ? { text, asUser: true } : { text }),
    clear: async () => {
      await $.command.run({ command: 'clear', args: '' })
    },
    fork: prompt => $.model.fork({ prompt }),
    complete: async options => modelAnswer(await $.model.complete(options)),
    compactsAt: async () => limitOf(await $.session.usage({ breakdown: 'summary' })),
    helpers: () => $.agent.list(),
    registerCommand: async (name, description, argumentHint) => {
      await $.command.register({ name, description, ...(argumentHint !== '' && { argumentHint }) })
    },
  }
}

function draftText(read: unknown): string {
  if (typeof read === 'string') return read
  const { text } = (read ?? {}) as { text?: unknown }
  return typeof text === 'string' ? text : ''
}

function modelAnswer(answer: unknown): ModelAnswer {
  if (typeof answer === 'string') return { isAnswered: true, text: answer }
  const { isAnswered, text, reason, usage } = (answer ?? {}) as {
    isAnswered?: boolean
    text?: string
    reason?: string
    usage?: unknown
  }
  return isAnswered !== false && text !== undefined
    ? { isAnswered: true, text, usage }
    : { isAnswered: false, reason: reason ?? 'no-answer' }
}

function limitOf(usage: unknown): number | undefined {
  const { autoCompactThreshold, rawMaxTokens, context } = (usage ?? {}) as {
    autoCompactThreshold?: number
    rawMaxTokens?: number
    context?: { autoCompactThreshold?: number; rawMaxTokens?: number; breakdown?: Record<string, number> }
  }
  const inner = { ...context?.breakdown, ...context }
  return autoCompactThreshold ?? inner['autoCompactThreshold'] ?? rawMaxTokens ?? inner['rawMaxTokens']
}

/** The host's result with the context of ours behind what is there; an empty line between texts is ours to write. */
function withContext(result: HookEvent, { contexts }: Carried): HookEvent {
  if (contexts.length === 0) return result
  return { ...result, additionalContext: [...listOf(result.additionalContext), separated(contexts)] }
}

function separated(contexts: readonly string[]): string {
  return contexts.map(text => text.replace(/\n+$/, '')).join('\n\n')
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? (value as string[]) : typeof value === 'string' ? [value] : []
}

function pass(_: Dollar, event: HookEvent, next: Next): unknown {
  return next(event)
}

export function register(on: On): void {
  const door: ClaudeDoor = createDoor(crypto.randomUUID())
  const registered = new Set<string>()
  /** Answers whose checkpoints the person unfolded, by the host's id of the block. */
  const unfolded = new Set<string>()

  on('session.start', async ($, e, next) => {
    const host = hostOf($)
    for (const [name, description, hint] of commands) {
      try {
        await host.registerCommand(name, description, hint)
        registered.add(name)
      } catch (error) {
        // The person has a command of that name: theirs runs, ours is `/outrigger:<name>`.
        $.ui.log(`outrigger: /${name} is taken: ${String(error)}`, { to: 'debug' })
      }
    }
    return next(e)
  }).catch(pass)

  on('classic.SessionStart', async ($, e, next) => {
    const host = hostOf($)
    const carried = await door.sessionStarted(host, e)
    // Command hooks of ours run inside `next`: they stand in where no engine process answers.
    if (carried.isUp) await host.markPresent()
    const result = withContext(await next(e), carried)
    return carried.watched === undefined
      ? result
      : { ...result, watchPaths: [...new Set([...listOf(result.watchPaths), ...carried.watched])] }
  }).catch(pass)

  on('prompt.submit', async ($, e, next) => {
    const { contexts } = await door.promptEntering(hostOf($), e.text, e.origin?.kind ?? '')
    return next(contexts.length === 0 ? e : { ...e, context: [...listOf(e.context), separated(contexts)] })
  }).catch(pass)

  on('classic.UserPromptSubmit', async ($, e, next) => {
    const starting = await door.promptStarting(hostOf($), e)
    if (starting.block !== undefined) return { block: starting.block }
    return withContext(await next(e), starting)
  }).catch(pass)

  on('turn.start', async ($, e, next) => {
    await door.turnStarted(hostOf($), e)
    return next(e)
  }).catch(pass)

  on('turn.step', async function* ($, e, next) {
    const step = yield* next(e)
    if (e.agentId === undefined) door.stepEnded(step)
    return step
  }).catch(pass)

  on('classic.PostToolUse', async ($, e, next) => {
    const result = await next(e)
    return withContext(result, await door.toolFinished(hostOf($), 'PostToolUse', e))
  }).catch(pass)

  on('classic.PostToolUseFailure', async ($, e, next) => {
    const result = await next(e)
    return withContext(result, await door.toolFinished(hostOf($), 'PostToolUseFailure', e))
  }).catch(pass)

  on('classic.Stop', async ($, e, next) => {
    const result = await next(e)
    const { hold } = await door.stopping(hostOf($), e)
    if (hold === undefined) return result
    return { ...result, block: result.block === undefined ? hold : `${result.block}\n\n${hold}` }
  }).catch(pass)

  on('turn.complete', async ($, e, next) => {
    const result = await next(e)
    await door.turnCompleted(hostOf($), e)
    return result
  }).catch(pass)

  on('session.measure', async ($, e, next) => {
    const result = await next(e)
    await door.measured(hostOf($), e.context ?? {})
    return result
  }).catch(pass)

  on('classic.FileChanged', async ($, e, next) => {
    await door.fileChanged(hostOf($), e)
    return next(e)
  }).catch(pass)

  on('session.end', async ($, e, next) => {
    await door.sessionEnded(hostOf($), e.sessionId, e.reason)
    return next(e)
  }).catch(pass)

  on('command.run', { command: own }, async ($, e, next) => {
    const name = e.command.replace(/^outrigger:/, '')
    // A person's own command of that name runs in place of ours.
    if (name === e.command && !registered.has(name)) return next(e)
    const by = e.origin?.kind === 'plugin' ? 'plugin' : 'person'
    const { text, ok } = await door.command(hostOf($), name, e.args ?? '', by)
    return ok ? { text } : { text, exitCode: 1 }
  }).catch(pass)

  // The server of our plugin outlives `/clear`: only the module knows which session calls.
  on('tool.call', { tool: /^mcp__plugin_outrigger_outrigger__/ }, async ($, e, next) =>
    next({ ...e, session: await $.session.id() }),
  ).catch(pass)

  on('ui.render', { component: 'AbovePrompt' }, async ($, e, next) => {
    if (door.shown.offer === null || e.props?.hasSurvey === true) return next(e)
    const host = hostOf($)
    return band(
      h,
      $.ui.resolve(e),
      door.shown,
      command => door.press(host, command),
      text => host.fill(text),
    )
  }).catch(pass)

  on('ui.render', { component: 'Pane', requestId: reviewPane }, async ($, e, next) => {
    const { review } = door.shown
    if (review === null) return next(e)
    const host = hostOf($)
    return reviewTree(h, $.ui.resolve(e), review, command => door.press(host, command))
  }).catch(pass)

  on('ui.render', { component: 'AssistantMessage' }, async ($, e, next) => {
    const folded = foldAnswer(e.props?.text ?? '')
    if (folded === undefined) return next(e)
    const drawn = await next({ ...e, props: { ...e.props, text: folded.text } })
    if (folded.label === undefined) return drawn
    const { Box, Text, Button } = $.ui.resolve(e)
    const id = e.requestId ?? folded.text
    const isOpen = unfolded.has(id)
    const toggle = () => {
      if (!unfolded.delete(id)) unfolded.add(id)
      $.ui.invalidate('ui.render')
    }
    return h(
      Box,
      { flexDirection: 'column' },
      drawn,
      h(Button, {
        key: 'outrigger-checkpoint',
        plain: true,
        dimColor: true,
        label: `${isOpen ? '▾' : '▸'} ${folded.label}`,
        onPress: toggle,
      }),
      isOpen ? h(Text, { dimColor: true }, e.props?.text ?? '') : null,
    )
  }).catch(pass)
}
