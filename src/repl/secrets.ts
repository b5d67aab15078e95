/** Values of environment variables that look like secrets never reach the disk. */

const secretName = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH/i
const minUnits = 8
const shown = '•••'

/** Every secret value becomes `•••`. @param find - masks what looks like a secret by itself. */
export function secretMask(
  env: Readonly<Record<string, string | undefined>>,
  find: (text: string) => string,
): (text: string) => string {
  const values = secretValues(env)
  return text => {
    let masked = text
    for (const value of values) if (masked.includes(value)) masked = masked.replaceAll(value, shown)
    return find(masked)
  }
}

/** Longest first, so that one inside another leaves nothing. */
export function secretValues(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const values = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && value.length >= minUnits && secretName.test(name) ? [value] : [],
  )
  return [...new Set(values)].sort((a, b) => b.length - a.length)
}
