import { locateArtifact } from '../catalog/artifact-source.ts'
import { artifactId } from '../catalog/lock.ts'
import type { PlannedArtifact, PlannedFile } from '../contract/component-plan.ts'
import type { PublicIdentity } from '../identity/public-identity.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { buildComponentPlan, type ComponentPlanner, type PlanContext } from './context.ts'

interface FileOptions {
  readonly owner: string
  /** File mode. The default is 0600, because for most files only the owner needs access. */
  readonly mode?: string
  readonly restart?: boolean
}

/** Plans a text file. By default a change restarts the component. */
export function planTextFile(
  path: string,
  text: string,
  { owner, mode = '0600', restart = true }: FileOptions,
): PlannedFile {
  return { path, owner, mode, content: { kind: 'text', text }, restart }
}

/**
 * Plans a file whose content is a secret. The plan holds only the name of the secret and a tag of its value.
 */
export function planSecretFile(
  path: string,
  secret: string,
  { tags }: PublicIdentity,
  { owner, mode = '0600', restart = true }: FileOptions,
): PlannedFile {
  // A secret without a value gets the tag `missing`, so that planning continues. checkRegistryLogins reports
  // a missing registry password as an error.
  return {
    path,
    owner,
    mode,
    content: { kind: 'secret', secret, tag: tags.get(secret) ?? 'missing' },
    restart,
  }
}

/** Plans the files that cluster.yml lists for the host. */
export function planExtraFiles(owner: string): ComponentPlanner<PlanContext> {
  return ({ host, attachments }) => {
    if (host.files.length === 0) return undefined
    return buildComponentPlan({
      name: 'extra-files',
      stage: 'prepare',
      files: host.files.map(({ path, mode, content, source }) =>
        planTextFile(path, content ?? attachments.get(source ?? '') ?? '', { owner, mode, restart: false }),
      ),
    })
  }
}

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
