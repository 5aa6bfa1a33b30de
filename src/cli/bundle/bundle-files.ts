import { buffer } from 'node:stream/consumers'
import { deriveBundleKey } from '../../identity/bundle-key.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { ReadBundledFile } from '../../lifecycle/agent-install-options.ts'
import type { ClusterInputs } from '../../lifecycle/cluster-inputs.ts'
import type { CommandContext } from '../command.ts'
import { findBundlePath, openClusterBundle } from './open-cluster-bundle.ts'

/**
 * Creates a function that reads single files of the cluster's bundle. Undefined if the cluster has no bundle.
 */
export function createBundledFileReader(
  context: Pick<CommandContext, 'bundles'>,
  clusterFile: string,
  { cluster, identity }: Pick<ClusterInputs, 'cluster' | 'identity'>,
): ReadBundledFile | undefined {
  if (findBundlePath(clusterFile, cluster) === undefined) return undefined
  return async (sha256) => {
    const { publicKey } = deriveBundleKey(identity)
    await using bundle = await openClusterBundle(context, clusterFile, cluster, publicKey)
    const member = bundle?.manifest.members.find((candidate) => candidate.sha256 === sha256)
    if (bundle === undefined || member === undefined) throw buildMissingFileError()
    return await buffer(bundle.content(member))
  }
}

function buildMissingFileError(): HyperkubeError {
  return new HyperkubeError('BUNDLE_INCOMPLETE', 'the bundle has nothing that starts an agent on Windows', {
    hint: 'create it again from the same cluster.lock on a machine with internet access: hyperkube bundle create',
  })
}
