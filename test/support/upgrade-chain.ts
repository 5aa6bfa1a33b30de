import { selectVersions } from '../../lab/cluster/artifacts.ts'
import {
  type KubernetesVersion,
  kubernetesVersions,
  olderKubernetesVersions,
} from '../../lab/components/parts.ts'

/** Versions of a chain of upgrades, one per minor, oldest first. */
export function listChain(from: string): readonly [KubernetesVersion, ...KubernetesVersion[]] {
  const all = [...kubernetesVersions, ...olderKubernetesVersions].toReversed()
  const [first, ...rest] = all.slice(all.findIndex((version) => version === from))
  if (first === undefined || !all.some((version) => version === from)) {
    throw new Error(`${from} is not one of ${all.join(', ')}`)
  }
  return [first, ...rest]
}

/** Lists the parts that the mirror must serve for all versions of a chain. */
export function listChainParts(chain: readonly KubernetesVersion[]): string[] {
  return [
    ...new Set(chain.flatMap((version) => [`kubernetes@${version}`, `etcd@${selectVersions(version).etcd}`])),
  ]
}
