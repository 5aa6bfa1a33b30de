import { HyperkubeError } from '../kit/errors.ts'
import { nearest } from '../kit/suggest.ts'
import { printable } from '../kit/printable.ts'
import type { ControllerRow } from './controller.ts'

/**
 * Which controllers words like `*,-foo` mean, as kube-controller-manager reads them: a name is on, one with a minus off, of
 * both the first one counts, and `*` is all others that are on by default.
 */
export function choose(rows: readonly ControllerRow[], words: readonly string[]): ControllerRow[] {
  const byName = new Map(
    rows.flatMap((row) => [row.name, ...row.aliases].map((name) => [name, row] as const)),
  )
  const wishes = new Map<ControllerRow, boolean>()
  let others = false
  for (const word of words) {
    if (word === '*') {
      others = true
      continue
    }
    const name = word.replace(/^-/, '')
    const row = byName.get(name)
    if (row === undefined) throw unknown(name, [...byName.keys()])
    if (!wishes.has(row)) wishes.set(row, name === word)
  }
  return rows.filter((row) => wishes.get(row) ?? (others && row.byDefault))
}

function unknown(name: string, known: readonly string[]): HyperkubeError {
  const meant = nearest(name, known)
  return new HyperkubeError('MANAGER_CONTROLLER_UNKNOWN', `there is no controller ${printable(name)}`, {
    hint: meant === undefined ? 'hyperkube controller-manager list' : `did you mean ${meant}?`,
  })
}

/** Fails where two rows share a name: an identity must be of one. */
export function checkTable(rows: readonly ControllerRow[]): void {
  const names = rows.flatMap(({ name, aliases }) => [name, ...aliases])
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw new Error(`two controllers are called ${twice}`)
  const wrong = names.find((name) => !/^[a-z][a-z0-9-]*$/.test(name))
  if (wrong !== undefined) throw new Error(`${wrong} is no name of a controller`)
}
