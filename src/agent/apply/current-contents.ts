import { join } from '../host/host-path.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { Host } from '../host/host.ts'

/** Larger ones nobody reads line by line. */
const largest = 256 * 1024

/**
 * What is in the files and units that ops would change, by the names that the ops give them, so that a person sees the
 * difference. Secrets, and what may be one, are left out.
 */
export async function textsBefore(
  host: Host,
  { components }: NodePlan,
  ops: readonly Op[],
): Promise<Record<string, string>> {
  const open = new Set(
    components.flatMap((component) => [
      ...component.files.filter(({ content }) => content.kind === 'text').map(({ path }) => path),
      ...component.derivedFiles.map(({ path }) => path),
    ]),
  )
  const wanted = ops.flatMap(({ action, target, name }): (readonly [string, string])[] => {
    if (action !== 'change') return []
    // Elsewhere a service is no text.
    if (target === 'service') return host.os === 'linux' ? [[name, join(host.layout.units, name)]] : []
    return open.has(name) ? [[name, name]] : []
  })
  const read = wanted.map(async ([name, path]) => {
    const bytes = await host.files.read(path)
    return bytes === undefined || bytes.length > largest ? [] : [[name, bytes.toString('utf8')] as const]
  })
  return Object.fromEntries((await Promise.all(read)).flat())
}
