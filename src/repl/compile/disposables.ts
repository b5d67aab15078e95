/** What lowered `using` declarations dispose, newest first, with errors as the language combines them. */

export interface Disposables {
  /** Put a value on the list and give it back; `null` and `undefined` are allowed. */
  use<T>(value: T, isAsync?: boolean): T
  /** The block threw. */
  fail(error: unknown): void
  dispose(): void
  disposeAsync(): Promise<void>
}

interface Realm {
  readonly TypeError: new (message: string) => Error
  readonly Symbol: { readonly dispose?: symbol; readonly asyncDispose?: symbol }
  readonly SuppressedError?: new (error: unknown, suppressed: unknown, message?: string) => Error
  readonly Error: new (message: string) => Error
}

interface Entry {
  readonly value: unknown
  readonly method: ((this: unknown) => unknown) | undefined
  readonly isAsync: boolean
}

/** @param global - whose symbols and errors are used; without `Symbol.dispose` there, the symbols `Symbol.for` gives. */
export function createDisposables(global: object): Disposables {
  const realm = global as Realm
  const entries: Entry[] = []
  let failure: { readonly error: unknown } | undefined

  const methodOf = (value: unknown, isAsync: boolean): Entry['method'] => {
    if (value === null || value === undefined) return undefined
    const holder = value as Record<symbol, unknown>
    const sync = realm.Symbol.dispose ?? Symbol.for('Symbol.dispose')
    const async = realm.Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')
    const method = (isAsync ? holder[async] : undefined) ?? holder[sync]
    if (typeof method !== 'function') throw new realm.TypeError('The value of a using declaration has no dispose method.')
    return method as (this: unknown) => unknown
  }
  const suppress = (error: unknown): void => {
    if (failure === undefined) failure = { error }
    else failure = { error: suppressed(realm, error, failure.error) }
  }
  const end = (): void => {
    if (failure !== undefined) throw failure.error
  }
  return {
    use(value, isAsync = false) {
      entries.push({ value, method: methodOf(value, isAsync), isAsync })
      return value
    },
    fail(error) {
      failure = { error }
    },
    dispose() {
      for (const { value, method } of entries.reverse()) {
        try {
          method?.call(value)
        } catch (error) {
          suppress(error)
        }
      }
      end()
    },
    async disposeAsync() {
      for (const { value, method, isAsync } of entries.reverse()) {
        try {
          const result = method?.call(value)
          if (isAsync) await result
        } catch (error) {
          suppress(error)
        }
      }
      end()
    },
  }
}

function suppressed(realm: Realm, error: unknown, earlier: unknown): Error {
  if (realm.SuppressedError !== undefined)
    return new realm.SuppressedError(error, earlier, 'An error was suppressed during disposal')
  return Object.assign(new realm.Error('An error was suppressed during disposal'), {
    name: 'SuppressedError',
    error,
    suppressed: earlier,
  })
}
