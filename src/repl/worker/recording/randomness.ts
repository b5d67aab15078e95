/** Random numbers and bytes. */
import type { Captured } from '../captured.ts'
import type { Ambient, Callable } from './ambient.ts'
import type { Recording } from './recording.ts'

declare const captured: Captured

type Properties = Record<string, unknown>

export function installRandomNumbers(ambient: Ambient): void {
  ambient.replace((captured.global as Properties)['Math'] as object, 'random', ({ recording }) => recording.random())
}

/** @param draw - bytes of the real source. */
export function installCrypto(ambient: Ambient, crypto: Properties, draw: (count: number) => Uint8Array): void {
  const bytes = (recording: Recording, count: number): Uint8Array =>
    captured.fromBase64(recording.bytes(count, () => captured.toBase64(draw(count))))
  const number = (recording: Recording): number => {
    const drawn = bytes(recording, 6)
    let value = 0
    for (const byte of drawn) value = value * 256 + byte
    return value
  }
  const uuid = (recording: Recording): string => {
    const drawn = bytes(recording, 16)
    drawn[6] = (drawn[6]! & 0x0f) | 0x40
    drawn[8] = (drawn[8]! & 0x3f) | 0x80
    let hex = ''
    for (const byte of drawn) hex += byte.toString(16).padStart(2, '0')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
  }
  /** The callback's turn comes like that of any other read. */
  const answer = (recording: Recording, callback: Callable, value: unknown): void => {
    const read = recording.newRead()
    const run = captured.snapshot()
    const give = (): void => void Reflect.apply(callback, undefined, [null, value])
    if (recording.isReplay) recording.hold('f', read, () => run(give))
    else
      captured.setImmediate(() => {
        recording.delivered('f', read)
        run(give)
      })
  }
  const isCount = (value: unknown): value is number =>
    Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31
  const isBytes = (value: unknown): value is ArrayBufferView => ArrayBuffer.isView(value)
  const whole = (view: ArrayBufferView): Uint8Array => new Uint8Array(view.buffer, view.byteOffset, view.byteLength)

  ambient.replace(crypto, 'randomUUID', ({ recording }) => uuid(recording))
  ambient.replace(crypto, 'randomBytes', ({ given, recording, proceed }) => {
    const [count, callback] = given
    if (!isCount(count)) return proceed()
    const value = bytes(recording, count)
    return typeof callback === 'function' ? answer(recording, callback as Callable, value) : value
  })
  for (const name of ['pseudoRandomBytes', 'prng', 'rng']) ambient.replaceGetter(crypto, name, () => crypto['randomBytes'])
  ambient.replace(crypto, 'randomInt', ({ given, recording, proceed }) => {
    const [first, second, third] = given
    const [low, high, callback] = typeof second === 'number' ? [first, second, third] : [0, first, second]
    if (!Number.isSafeInteger(low) || !Number.isSafeInteger(high)) return proceed()
    const range = (high as number) - (low as number)
    if (range <= 0 || range > 2 ** 48 - 1) return proceed()
    // Numbers of the last, incomplete run of the range would make small ones likelier.
    const limit = 2 ** 48 - (2 ** 48 % range)
    let drawn = number(recording)
    while (drawn >= limit) drawn = number(recording)
    const value = (low as number) + (drawn % range)
    return typeof callback === 'function' ? answer(recording, callback as Callable, value) : value
  })
  const fill = (recording: Recording, view: ArrayBufferView | ArrayBuffer, offset = 0, size?: number): void => {
    const target = isBytes(view) ? whole(view) : new Uint8Array(view)
    const unit = isBytes(view) && 'BYTES_PER_ELEMENT' in view ? (view.BYTES_PER_ELEMENT as number) : 1
    const from = offset * unit
    const count = size === undefined ? target.length - from : size * unit
    target.set(bytes(recording, count), from)
  }
  const canFill = (given: readonly unknown[], count: number): boolean => {
    const [view, offset, size] = given
    if (!isBytes(view) && !captured.modules.util.types.isAnyArrayBuffer(view)) return false
    const unit = isBytes(view) && 'BYTES_PER_ELEMENT' in view ? (view.BYTES_PER_ELEMENT as number) : 1
    const length = (view as ArrayBuffer).byteLength / unit
    const from = count > 1 ? (offset ?? 0) : 0
    const many = count > 2 ? (size ?? length - (from as number)) : length - (from as number)
    return isCount(from) && isCount(many) && from + many <= length
  }
  ambient.replace(crypto, 'randomFillSync', ({ given, recording, proceed }) => {
    if (!canFill(given, given.length)) return proceed()
    fill(recording, given[0] as ArrayBufferView, given[1] as number | undefined, given[2] as number | undefined)
    return given[0]
  })
  ambient.replace(crypto, 'randomFill', ({ given, recording, proceed }) => {
    const callback = given[given.length - 1]
    const args = given.slice(0, -1)
    if (typeof callback !== 'function' || !canFill(args, args.length)) return proceed()
    fill(recording, args[0] as ArrayBufferView, args[1] as number | undefined, args[2] as number | undefined)
    return answer(recording, callback as Callable, args[0])
  })
  const webcrypto = crypto['webcrypto'] as object
  const prototype = Reflect.getPrototypeOf(webcrypto)!
  const maxBytes = 65_536
  const getRandomValues = (recording: Recording, view: unknown): boolean => {
    if (!isBytes(view) || captured.modules.util.types.isDataView(view) || view.byteLength > maxBytes) return false
    if (captured.modules.util.types.isFloat32Array(view) || captured.modules.util.types.isFloat64Array(view)) return false
    whole(view).set(bytes(recording, view.byteLength))
    return true
  }
  for (const owner of [crypto, prototype])
    ambient.replace(owner, 'getRandomValues', ({ given, recording, proceed }) =>
      getRandomValues(recording, given[0]) ? given[0] : proceed(),
    )
  ambient.replace(prototype, 'randomUUID', ({ recording }) => uuid(recording))

  const entropy = (owner: object | undefined, names: readonly string[]): void => {
    for (const name of names)
      ambient.replace(owner, name, ({ recording, proceed }) => {
        recording.effect('entropy', name)
        return proceed()
      })
  }
  entropy(crypto, [
    'generateKeyPair',
    'generateKeyPairSync',
    'generateKey',
    'generateKeySync',
    'generatePrime',
    'generatePrimeSync',
    'sign',
    'publicEncrypt',
    'encapsulate',
  ])
  const prototypeOf = (name: string): object | undefined => (crypto[name] as { prototype?: object } | undefined)?.prototype
  entropy(prototypeOf('Sign'), ['sign'])
  entropy(prototypeOf('DiffieHellman'), ['generateKeys'])
  entropy(prototypeOf('DiffieHellmanGroup'), ['generateKeys'])
  entropy(prototypeOf('ECDH'), ['generateKeys'])
  const subtle = (webcrypto as { subtle?: object }).subtle
  if (subtle !== undefined)
    entropy(Reflect.getPrototypeOf(subtle) ?? undefined, [
      'generateKey',
      'sign',
      'encrypt',
      'wrapKey',
      'encapsulateKey',
      'encapsulateBits',
    ])
}
