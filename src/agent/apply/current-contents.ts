import { join } from '../host/host-path.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { Host } from '../host/host.ts'

/** Maximum size of a file that is shown as a diff. */
const maxBytes = 256 * 1024

/**
 * Reads the current content of files and units that ops would change, keyed by the name in the op, to show an
 * operator the difference. Secrets and files that may contain one are left out.
 */
export async function readCurrentContents(
  host: Host,
  { components }: NodePlan,
  ops: readonly Op[],
): Promise<Record<string, string>> {
  const readable = new Set(
    components.flatMap((component) => [
      ...component.files.filter(({ content }) => content.kind === 'text').map(({ path }) => path),
      ...component.derivedFiles.map(({ path }) => path),
    ]),
  )
  const toRead = ops.flatMap(({ action, target, name }): (readonly [string, string])[] => {
    if (action !== 'change') return []
    // On Windows a service is not defined by a text file.
    if (target === 'service') return host.os === 'linux' ? [[name, join(host.layout.units, name)]] : []
    return readable.has(name) ? [[name, name]] : []
  })
  const contents = toRead.map(async ([name, path]) => {
    const bytes = await host.files.read(path)
    return bytes === undefined || bytes.length > maxBytes ? [] : [[name, bytes.toString('utf8')] as const]
  })
  return Object.fromEntries((await Promise.all(contents)).flat())
}
