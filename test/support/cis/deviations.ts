import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { shippedConfiguration } from './kube-bench.ts'

const guide = join(import.meta.dirname, '../../../docs/how-to/cis.md')

/** Reads the reasons from the tables of docs/how-to/cis.md whose rows begin with the numbers of checks. */
export function readReasons(text = readFileSync(guide, 'utf8')): ReadonlyMap<string, string> {
  const rows = text.split('\n').flatMap((line) => {
    const [, ids, reason] = /^\| ([\d., ]+) \| (.+) \|$/.exec(line) ?? []
    return ids === undefined || reason === undefined
      ? []
      : ids.split(', ').map((id) => [id, reason.split(' | ').at(-1) ?? ''] as const)
  })
  return new Map(rows)
}

const controls = z.object({
  groups: z.array(z.object({ checks: z.array(z.object({ id: z.union([z.string(), z.number()]) })) })),
})

/** Lists the numbers of the checks that hyperkube ships instead of upstream's. */
export function listAdaptedChecks(): string[] {
  return ['master', 'node', 'policies'].flatMap((target) => {
    const text = readFileSync(join(shippedConfiguration, `hyperkube-1.12/${target}.yaml`), 'utf8')
    return controls.parse(parse(text)).groups.flatMap(({ checks }) => checks.map(({ id }) => String(id)))
  })
}
