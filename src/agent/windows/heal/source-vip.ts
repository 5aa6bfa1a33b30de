import type { DerivedFile } from '../../../contract/component-plan.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { accessOf } from '../../apply/planned-access.ts'
import { renderDerived } from '../../apply/render-derived.ts'
import type { WindowsHost } from '../../host/host.ts'
import type { SourceAddresses } from '../reconcile/reconcile-deps.ts'

/** Makes a file of a plan from its source as it is now. */
export type Derive = (derived: DerivedFile) => Promise<void>

/**
 * The address that kube-proxy sends from, with all that tells kube-proxy of it: an address counts as taken only once the
 * file that says so is there, and what is made from that file as well.
 */
export function toldAddresses(
  host: WindowsHost,
  plan: NodePlan,
  book: SourceAddresses,
  derive: Derive,
): SourceAddresses {
  const { files, layout } = host
  const derived = plan.components
    .flatMap(({ derivedFiles }) => derivedFiles)
    .filter(({ from }) => from === layout.sourceVip)
  const isTold = async (address: string): Promise<boolean> => {
    const text = sourceText(address)
    if ((await files.read(layout.sourceVip))?.toString('utf8') !== text) return false
    for (const { path, template } of derived) {
      if ((await files.read(path))?.toString('utf8') !== renderDerived(template, text)) return false
    }
    return true
  }
  return {
    async reserved(network) {
      const address = await book.reserved(network)
      return address !== undefined && (await isTold(address)) ? address : undefined
    },
    async reserve(network, subnet) {
      const known = await book.reserved(network)
      // One of another subnet is of no use: whoever looks next would only release it.
      const address = known ?? (await book.reserve(network, subnet))
      const access = await accessOf(host, { owner: 'root', mode: '0600' })
      await files.write(layout.sourceVip, Buffer.from(sourceText(address)), access)
      for (const one of derived) await derive(one)
      return address
    },
    release: async (network) => book.release(network),
  }
}

/** As the files that flannel writes are. */
function sourceText(address: string): string {
  return `SOURCE_VIP=${address}\n`
}
