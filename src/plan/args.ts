/** Flags of a program without their dashes, by name. */
export type Args = Readonly<Record<string, string>>

/** Flags whose values are lists: what a person adds comes beside ours, not in its place. */
const lists = new Set(['enable-admission-plugins', 'disable-admission-plugins', 'feature-gates'])

/** Ours, with those of a person over them, in the order of their names. */
export function mergeArgs(ours: Args, ...theirs: readonly (Args | undefined)[]): Args {
  const merged = theirs.reduce<Record<string, string>>(
    (args, more) => {
      for (const [name, value] of Object.entries(more ?? {})) {
        const before = args[name]
        args[name] = before !== undefined && lists.has(name) ? joinLists(before, value) : value
      }
      return args
    },
    { ...ours },
  )
  return Object.fromEntries(Object.entries(merged).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Of two settings of the same feature gate the later one counts, so one is kept. */
function joinLists(ours: string, theirs: string): string {
  const entries = [...ours.split(','), ...theirs.split(',')].map((entry) => entry.trim()).filter(Boolean)
  return [...new Map(entries.map((entry) => [entry.split('=')[0], entry])).values()].join(',')
}

/** A value is part of its flag, so that one which begins with a dash is no flag itself. */
export function flags(args: Args): string[] {
  return Object.entries(args).map(([name, value]) => `--${name}=${value}`)
}
