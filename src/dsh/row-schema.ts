/** What the rows of the engines share: their keys as the host's row and its settings page take them, described in the words of the configuration's own table. */
import type { Context } from '@deepseek-ai/cordis'
import { installSettingsSection, settingsNamespace } from '@deepseek-ai/dsh-settings'
import z from '@deepseek-ai/schemastery'
import type { Json } from '../ports/json.ts'
import type { ConfigKey } from '../runtime/config-keys.ts'

/** A list or a group that is left out stays left out: without this the schema library fills in an empty one. */
export const absent = undefined as never

/** One maker for each kind of value; each takes the path of a key in the table. */
export interface RowSchema<Path extends string> {
  /** What the key does and allows. */
  about(path: Path): string
  toggle(path: Path): z<boolean>
  whole(path: Path): z<number>
  number(path: Path): z<number>
  text(path: Path): z<string>
  texts(path: Path): z<string[]>
  oneOf<const T extends string>(path: Path, ...values: readonly T[]): z<T>
}

export function rowSchema<Path extends string>(keys: readonly ConfigKey[]): RowSchema<Path> {
  const about = (path: Path): string => {
    const key = keys.find(each => each.path === path)
    return key === undefined ? '' : `${key.about} (${key.allowed})`
  }
  return {
    about,
    toggle: path => z.boolean().description(about(path)),
    whole: path => z.natural().description(about(path)),
    number: path => z.number().description(about(path)),
    text: path => z.string().description(about(path)),
    texts: path => z.array(z.string()).default(absent).description(about(path)),
    oneOf: <const T extends string>(path: Path, ...values: readonly T[]) =>
      z.union(values.map(value => z.const(value))).description(about(path)) as z<T>,
  }
}

/**
 * Offer a row's keys among the host's settings, above what the row's own config says.
 *
 * @param changed - called after one of them changed.
 * @returns what is set now.
 */
export function rowSettings<Row extends object>(
  ctx: Context,
  name: string,
  schema: z<Row>,
  row: Row,
  changed: () => void,
): () => Row {
  let current: () => Row = () => row
  installSettingsSection(ctx, settingsNamespace(name), schema, row, {
    setSource: source => {
      current = source
    },
    onChange: changed,
  })
  return () => current()
}

/** Keys of one level that are set to a value that is allowed. */
export function allowedOf(keys: readonly ConfigKey[], row: object): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    Object.entries(row).filter(
      ([path, value]) =>
        value !== undefined && value !== null && keys.find(key => key.path === path)?.check(value as Json) === undefined,
    ),
  ) as Readonly<Record<string, Json>>
}
