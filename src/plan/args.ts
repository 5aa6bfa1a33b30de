/** Flags of a program by name, without leading dashes. */
export type Args = Readonly<Record<string, string>>

/** Flags whose values are lists: user values are appended to ours instead of replacing them. */
const listFlags = new Set(['enable-admission-plugins', 'disable-admission-plugins', 'feature-gates'])

/** Merges user flags over the defaults, sorted by name. */
export function mergeArgs(defaults: Args, ...overrides: readonly (Args | undefined)[]): Args {
  const merged = overrides.reduce<Record<string, string>>(
    (args, more) => {
      for (const [name, value] of Object.entries(more ?? {})) {
        const current = args[name]
        args[name] = current !== undefined && listFlags.has(name) ? joinLists(current, value) : value
      }
      return args
    },
    { ...defaults },
  )
  return Object.fromEntries(Object.entries(merged).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Keeps only the later of two settings of the same feature gate. */
function joinLists(defaults: string, overrides: string): string {
  const entries = [...defaults.split(','), ...overrides.split(',')]
    .map((entry) => entry.trim())
    .filter(Boolean)
  return [...new Map(entries.map((entry) => [entry.split('=')[0], entry])).values()].join(',')
}

/** Renders each value as part of its flag, so that a value with a leading dash is not read as a flag. */
export function toFlags(args: Args): string[] {
  return Object.entries(args).map(([name, value]) => `--${name}=${value}`)
}
