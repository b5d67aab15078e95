/** A model that is asked one question. Absent is a normal case: whoever asks goes on without. */

export interface ModelQuestion {
  readonly prompt: string
  readonly system?: string
  /** `provider/model`; left out: the person's default. */
  readonly model?: string
  readonly maxTokens: number
  readonly timeoutMs: number
}

export type ModelReply =
  | { readonly kind: 'answered'; readonly text: string; readonly usage?: { readonly input: number; readonly output: number } }
  /** `no-model`: none is configured, or its key is not there · `timeout` · `canceled` · `error`: the endpoint's words are the message. */
  | {
      readonly kind: 'failed'
      readonly reason: 'no-model' | 'timeout' | 'canceled' | 'error'
      readonly message: string
    }

export interface Models {
  /** Never rejects. Asks once: what fails is not asked again. */
  ask(question: ModelQuestion, signal?: AbortSignal): Promise<ModelReply>
}
