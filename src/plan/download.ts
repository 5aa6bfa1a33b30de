import { artifactId } from '../catalog/lock.ts'
import { locate } from '../catalog/artifact-source.ts'
import type { PlannedArtifact } from '../contract/component-plan.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { Scene } from './context.ts'

/** What it takes to know a file of a kind of host. */
export interface DownloadScene extends Pick<Scene, 'locked'> {
  readonly cluster: { readonly spec: Pick<Scene['cluster']['spec'], 'artifacts' | 'windows'> }
  readonly system: Pick<Scene['system'], 'os' | 'arch'>
}

type Download = Extract<PlannedArtifact, { from: 'url' }>

/** What the lock pins for this kind of host, and where it goes. */
export function download(
  { locked: all, cluster, system }: DownloadScene,
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
