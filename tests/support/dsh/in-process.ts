/**
 * A DSH agent loop on the host's real packages in the test's own process, with a scripted model: no
 * launcher, no profile, no network; 10-50 ms a test. Service packages default-export their class.
 */
import { Context, type Plugin } from '@deepseek-ai/cordis'
import AgentRegistry, { type Agent } from '@deepseek-ai/dsh-agent'
import AgentLoop from '@deepseek-ai/dsh-agent-loop'
import CommandRuntime from '@deepseek-ai/dsh-commands'
import LlmRuntime, {
  CallId,
  createUserMessage,
  type GenerateOptions,
  LlmAdapter,
  type LlmResolvedModelInfo,
  type StreamChunk,
  type UserMessage,
} from '@deepseek-ai/dsh-llm'
import SessionStore, { SessionId } from '@deepseek-ai/dsh-session'
import SystemPrompt from '@deepseek-ai/dsh-system-prompt'
import ToolRuntime from '@deepseek-ai/dsh-tools'

type Answer = readonly StreamChunk[]
export type AnswerScript = readonly (Answer | ((request: GenerateOptions) => Answer))[]

const usage = { inputTokens: 10, outputTokens: 5 }
let calls = 0

/** A model answer of plain text. */
export function text(content: string): Answer {
  return [
    { type: 'block-start', index: 0, blockType: 'text' },
    { type: 'text-delta', index: 0, text: content },
    { type: 'block-end', index: 0, block: { type: 'text', text: content } },
    { type: 'usage', usage },
    { type: 'finish', reason: { kind: 'stop' } },
  ]
}

/** A model answer that calls tools: `call(['write_note', { … }], …)`. */
export function call(...list: readonly (readonly [name: string, args: object])[]): Answer {
  return [
    ...list.flatMap(([name, args], index): StreamChunk[] => {
      const id = CallId(`c${++calls}`)
      const json = JSON.stringify(args)
      return [
        { type: 'block-start', index, blockType: 'tool-call' },
        { type: 'tool-call-delta', index, id, name, argumentsDelta: json },
        { type: 'block-end', index, block: { type: 'tool-call', id, name, arguments: json } },
      ]
    }),
    { type: 'usage', usage },
    { type: 'finish', reason: { kind: 'tool-calls' } },
  ]
}

export class ScriptedAdapter extends LlmAdapter {
  readonly requests: GenerateOptions[] = []
  readonly #script: (Answer | ((request: GenerateOptions) => Answer))[]

  constructor(script: AnswerScript) {
    super()
    this.#script = [...script]
  }

  override async resolveModel(provider: string, model: string): Promise<LlmResolvedModelInfo> {
    return { provider, id: model, name: model, context: { contextWindow: 1000 } }
  }

  override async *stream(request: GenerateOptions): AsyncIterable<StreamChunk> {
    this.requests.push(request)
    const entry = this.#script.shift()
    if (entry === undefined) throw new Error('the script is used up')
    yield* typeof entry === 'function' ? entry(request) : entry
  }
}

export interface Harness {
  readonly ctx: Context
  readonly adapter: ScriptedAdapter
  /** @param meta - more of the session's header. */
  create(id?: string, meta?: object): Promise<Agent>
  stop(): Promise<void>
}

/**
 * @param options.plugins - `[plugin, config]` pairs mounted after the loop, in order.
 * @param options.tools - config of the tool runtime, such as `{ mode: 'code' }`.
 */
export async function bootLoop(options: {
  readonly script: AnswerScript
  readonly cwd: string
  readonly plugins?: readonly (readonly [plugin: unknown, config: unknown])[]
  readonly tools?: object
}): Promise<Harness> {
  const ctx = new Context()
  await ctx.plugin(LlmRuntime)
  await ctx.plugin(SessionStore)
  await ctx.plugin(SystemPrompt, {})
  await ctx.plugin(ToolRuntime, options.tools ?? {})
  await ctx.plugin(AgentRegistry)
  await ctx.plugin(AgentLoop, { agents: [] })
  const adapter = new ScriptedAdapter(options.script)
  ctx.llm.registerAdapter(['mock'], adapter)
  await ctx.plugin(CommandRuntime)
  for (const [plugin, config] of options.plugins ?? []) await ctx.plugin(plugin as Plugin, config as never)
  return {
    ctx,
    adapter,
    create: async (id = 's1', meta = {}) => {
      const { agent } = await ctx.agents.create({
        sessionId: SessionId(id),
        agentOptions: { provider: 'mock', model: 'm1' },
        meta: { cwd: options.cwd, ...meta },
      })
      return agent
    },
    stop: () => ctx.fiber.dispose(),
  }
}

/** Speak to an agent as a person and wait until it is idle. */
export async function say(agent: Agent, content: string): Promise<void> {
  const message: UserMessage = createUserMessage({ content: [{ type: 'text', text: content }], source: { kind: 'user' } })
  agent.followup(message)
  await agent.whenIdle()
}

/** The messages of a request, one string each: text as it is, results as `R:…`, calls as `C:name`. */
export function flat(request: GenerateOptions | undefined): readonly string[] {
  return (request?.messages ?? []).map(message =>
    message.content
      .map(block => {
        if (block.type === 'text') return block.text
        if (block.type === 'tool-result')
          return `R:${block.content.map(part => (part.type === 'text' ? part.text : '')).join('')}`
        return block.type === 'tool-call' ? `C:${block.name}` : block.type
      })
      .join('|'),
  )
}
