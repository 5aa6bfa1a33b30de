import { firstFew } from '../../../kit/truncate-list.ts'
import { type Ask, failed, well } from './probe-runner.ts'
import { isThere } from './greet.ts'
import { following, type NodeSeen, type Nodes } from './node-reader.ts'

/** A lost SYN is sent again after a second. */
const patience = 2500

/** Whether other nodes that are said to be ready can be reached from here. */
export function askNeighbours(nodes: Nodes): Ask<'neighbours'> {
  return async ({ node: own, kubeconfig, count }, signal) => {
    const names = following(await nodes.names(kubeconfig, signal), own, count)
    const look = async (name: string): Promise<string | undefined> => {
      const known = await nodes.one(kubeconfig, name, Number.POSITIVE_INFINITY, signal)
      if (known === undefined || (await isReached(known, signal))) return undefined
      // It may be gone, or elsewhere, since it was asked about; with no API to say so, it counts as it was known.
      const now = await nodes.one(kubeconfig, name, 0, signal).catch(() => known)
      if (now?.ready !== true || (await isReached(now, signal))) return undefined
      return `${name} (${now.address})`
    }
    const silent = (await Promise.all(names.map(look))).filter((one) => one !== undefined)
    if (silent.length === 0) return well
    return failed('NEIGHBOURS_SILENT', `no way from here to ${firstFew(silent, 3)}`)
  }
}

/** Whoever refuses is there; of one that does not say where it is, nothing is said. */
async function isReached({ address, port }: NodeSeen, signal: AbortSignal): Promise<boolean> {
  if (address === undefined) return true
  const there = await isThere({ address, port }, patience, signal)
  signal.throwIfAborted()
  return there
}
