import { artifactId } from '../catalog/lock.ts'
import { locateArtifact } from '../catalog/artifact-source.ts'
import type { PlannedArtifact } from '../contract/component-plan.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { PlanContext } from './context.ts'

/** Input for locating an artifact for an operating system and architecture. */
export interface DownloadContext extends Pick<PlanContext, 'locked'> {
  readonly cluster: { readonly spec: Pick<PlanContext['cluster']['spec'], 'artifacts' | 'windows'> }
  readonly system: Pick<PlanContext['system'], 'os' | 'arch'>
}

type Download = Extract<PlannedArtifact, { from: 'url' }>

/**
 * Plans the download of an artifact. The lock pins it for the operating system and architecture of the host.
 */
export function planDownload(
  { locked: artifacts, cluster, system }: DownloadContext,
  name: string,
  toDirectory: (name: string, version: string) => string,
  unpack: Download['unpack'],
): Download {
  const { os, arch } = system
  const id = artifactId({ component: name, os, arch })
  const locked = artifacts.get(id)
  if (locked === undefined) {
    throw new HyperkubeError('LOCK_MISSING_ARTIFACT', `the lock has no ${id}`, { hint: 'hyperkube lock' })
  }
  const { version, url, sha256 } = locked
  return {
    from: 'url',
    name,
    version,
    url: locateArtifact(url, cluster.spec.artifacts),
    sha256,
    directory: toDirectory(name, version),
    unpack,
  }
}
