import type { DerivedFile } from '../../../contract/component-plan.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { resolveAccess } from '../../apply/planned-access.ts'
import { renderDerived } from '../../apply/render-derived.ts'
import type { WindowsHost } from '../../host/host.ts'
import type { SourceAddresses } from '../reconcile/reconcile-deps.ts'

/** Renders a derived file of a plan again from its source file. */
export type RenderDerivedFile = (derived: DerivedFile) => Promise<void>

/**
 * Wraps `allocator` and also publishes the source address to kube-proxy. An address counts as reserved only
 * after its file and all files derived from it are written.
 */
export function publishSourceAddresses(
  host: WindowsHost,
  plan: NodePlan,
  allocator: SourceAddresses,
  derive: RenderDerivedFile,
): SourceAddresses {
  const { files, layout } = host
  const derived = plan.components
    .flatMap(({ derivedFiles }) => derivedFiles)
    .filter(({ from }) => from === layout.sourceVip)
  const isPublished = async (address: string): Promise<boolean> => {
    const text = formatSourceVip(address)
    if ((await files.read(layout.sourceVip))?.toString('utf8') !== text) return false
    for (const { path, template } of derived) {
      if ((await files.read(path))?.toString('utf8') !== renderDerived(template, text)) return false
    }
    return true
  }
  return {
    async findReserved(network) {
      const address = await allocator.findReserved(network)
      return address !== undefined && (await isPublished(address)) ? address : undefined
    },
    async reserve(network, subnet) {
      const known = await allocator.findReserved(network)
      // An existing address is published even if it is in another subnet; the next round releases it.
      const address = known ?? (await allocator.reserve(network, subnet))
      const access = await resolveAccess(host, { owner: 'root', mode: '0600' })
      await files.write(layout.sourceVip, Buffer.from(formatSourceVip(address)), access)
      for (const one of derived) await derive(one)
      return address
    },
    release: async (network) => allocator.release(network),
  }
}

/** Formats the source address like an environment file of flannel. */
function formatSourceVip(address: string): string {
  return `SOURCE_VIP=${address}\n`
}
