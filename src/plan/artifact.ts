import { artifactId } from '../catalog/lock.ts'
import { locate } from '../catalog/source.ts'
import type { PlannedArtifact } from '../contract/component-plan.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { Scene } from './scene.ts'

type Download = Extract<PlannedArtifact, { from: 'url' }>

/** What the lock pins for this kind of host, and where it goes. */
export function download(
  { locked: all, cluster, system }: Scene,
  name: string,
  directoryOf: (name: string, version: string) => string,
  unpack: Download['unpack'],
): Download {
  const { os, arch } = system
  const id = artifactId({ component: name, os, arch })
  const locked = all.get(id)
  if (locked === undefined) {
    throw new HyperkubeError('LOCK_MISSING_ARTIFACT', `the lock has no ${id}`, { hint: 'hyperkube lock' })
  }
  const { version, url, sha256 } = locked
  return {
    from: 'url',
    name,
    version,
    url: locate(url, cluster.spec.artifacts),
    sha256,
    directory: directoryOf(name, version),
    unpack,
  }
}
