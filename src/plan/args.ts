/** Flags of a program by name, without leading dashes. */
export type Args = Readonly<Record<string, string>>

/** Flags whose values are lists. User values are added to the defaults instead of replacing them. */
const listFlags = new Set(['enable-admission-plugins', 'disable-admission-plugins', 'feature-gates'])

/** Merges user flags over the default flags. The result is sorted by name. */
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

/** Joins two comma-separated lists. If both set the same feature gate, the later value wins. */
function joinLists(defaults: string, overrides: string): string {
  const entries = [...defaults.split(','), ...overrides.split(',')]
    .map((entry) => entry.trim())
    .filter(Boolean)
  return [...new Map(entries.map((entry) => [entry.split('=')[0], entry])).values()].join(',')
}

/** Formats flags as --name=value. A value with a leading dash is then not mistaken for a flag. */
export function toFlags(args: Args): string[] {
  return Object.entries(args).map(([name, value]) => `--${name}=${value}`)
}
