import { buffer } from 'node:stream/consumers'
import { bundleKey } from '../../identity/bundle-key.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Carried } from '../../lifecycle/agent-install.ts'
import type { Wish } from '../../lifecycle/build-proposal.ts'
import type { Context } from '../command.ts'
import { bundleFile, openClusterBundle } from './open-cluster-bundle.ts'

/** Single files of the bundle that a cluster's files come from; nothing when its hosts fetch for themselves. */
export function carriedFor(
  context: Pick<Context, 'bundles'>,
  clusterFile: string,
  { cluster, identity }: Pick<Wish, 'cluster' | 'identity'>,
): Carried | undefined {
  if (bundleFile(clusterFile, cluster) === undefined) return undefined
  return async (sha256) => {
    const { publicKey } = bundleKey(identity)
    await using bundle = await openClusterBundle(context, clusterFile, cluster, publicKey)
    const member = bundle?.manifest.members.find((one) => one.sha256 === sha256)
    if (bundle === undefined || member === undefined) throw lacks()
    return await buffer(bundle.content(member))
  }
}

function lacks(): HyperkubeError {
  return new HyperkubeError('BUNDLE_LACKS', 'the bundle has nothing that starts an agent on Windows', {
    hint: 'make it anew from the same cluster.lock, where there is a way out: hyperkube bundle create',
  })
}
