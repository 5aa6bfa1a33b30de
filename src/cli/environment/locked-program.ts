import { basename, join } from 'node:path'
import { systemClock } from '../../agent/host/clock.ts'
import { createHttpDownloader } from '../../agent/host/downloader.ts'
import { artifactPath } from '../../bundle/manifest.ts'
import { locateArtifact } from '../../catalog/artifact-source.ts'
import type { Lock, LockedArtifact } from '../../catalog/lock.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { writeNewFile } from '../../kit/files.ts'
import type { HttpRoute } from '../../kit/http-route.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { type ClusterWebContext, openClusterWeb } from '../../workspace/cluster-web.ts'
import type { ClusterFiles } from '../../workspace/context.ts'
import { openClusterBundle } from '../../workspace/open-cluster-bundle.ts'
import type { CommandContext } from '../command/command.ts'

/** Maximum size of a download in bytes. Every program and archive of a lock is smaller. */
const maxBytes = 1 << 30

/** The cluster from whose sources a program is fetched. */
export interface LockedProgramOptions {
  readonly files: ClusterFiles
  readonly cluster: Cluster
  /** Lock that pins the version and digest of the program. */
  readonly lock: Lock
}

export type LockedProgramDeps = ClusterWebContext & PinnedArtifactDeps

/** The cluster from whose bundle, mirror or proxy an artifact is fetched. */
export interface ArtifactOrigin {
  /** Path of cluster.yml. */
  readonly clusterFile: string
  readonly cluster: Cluster
  /** Returns the way to download sites: proxy, logins and CAs of cluster.yml. */
  readonly openRoute: () => Promise<HttpRoute>
}

export interface PinnedArtifactDeps extends Pick<CommandContext, 'bundles' | 'cacheDirectory' | 'signal'> {
  readonly progress: {
    /** Starts to show the progress of one transfer. */
    readonly track: (title: string) => (done: number, total: number) => void
  }
}

const architectures: Readonly<Record<string, LockedArtifact['arch']>> = { x64: 'amd64', arm64: 'arm64' }

/** Finds the artifact of a component that runs on the operator's machine. */
export function findLocalArtifact({ artifacts }: Lock, wanted: LockedArtifact['component']): LockedArtifact {
  const artifact = artifacts.find(
    ({ component, os, arch }) =>
      component === wanted && os === process.platform && arch === architectures[process.arch],
  )
  if (artifact !== undefined) return artifact
  const message = `cluster.lock has no ${wanted} for ${process.platform} on ${process.arch}`
  throw new HyperkubeError('PROGRAM_NOT_LOCKED', message, {
    hint: 'on another architecture of Linux, pin its programs too: hyperkube lock --arch amd64 --arch arm64; otherwise run the same command on a Linux machine',
  })
}

/** Returns the name of an artifact in the cache. */
export function buildCacheName({ component, version, os, arch, sha256 }: LockedArtifact): string {
  return `${component}-v${version}-${os}-${arch}-${sha256.slice(0, 12)}`
}

/** Fetches an artifact into a directory from the bundle, the mirror or upstream, and verifies its digest. */
export async function fetchLockedArtifact(
  artifact: LockedArtifact,
  directory: string,
  { files, cluster }: LockedProgramOptions,
  deps: LockedProgramDeps,
): Promise<string> {
  const openRoute = async () => (await openClusterWeb(deps, files, cluster)).route
  return fetchPinnedArtifact(artifact, directory, { clusterFile: files.file, cluster, openRoute }, deps)
}

/** Like `fetchLockedArtifact`, for callers that open the connections of the cluster themselves. */
export async function fetchPinnedArtifact(
  artifact: LockedArtifact,
  directory: string,
  origin: ArtifactOrigin,
  deps: PinnedArtifactDeps,
): Promise<string> {
  const target = join(directory, basename(artifact.url))
  await using bundle = await openClusterBundle(deps, origin.clusterFile, origin.cluster)
  const path = artifactPath(artifact)
  const member = bundle?.manifest.members.find((one) => one.path === path)
  const sha256 =
    bundle !== undefined && member !== undefined
      ? (await writeNewFile(target, bundle.content(member))).sha256
      : await download(artifact, target, origin, deps)
  if (sha256 === artifact.sha256) return target
  throw new HyperkubeError(
    'PROGRAM_CHANGED',
    `${artifact.url} does not match cluster.lock: the SHA-256 is ${sha256}, expected ${artifact.sha256}`,
    { hint: 'check whether upstream changed the file: hyperkube lock --check; otherwise fix the mirror' },
  )
}

async function download(
  artifact: LockedArtifact,
  target: string,
  { cluster, openRoute }: ArtifactOrigin,
  { progress, signal }: PinnedArtifactDeps,
): Promise<string> {
  const url = locateArtifact(artifact.url, cluster.spec.artifacts)
  const report = progress.track(`downloading ${url}`)
  return createHttpDownloader((path) => path, systemClock).download({
    url,
    into: target,
    maxBytes,
    route: await openRoute(),
    progress: (done, total) => report(done, total ?? done),
    signal,
  })
}
