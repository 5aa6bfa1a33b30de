import { chmod } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { systemClock } from '../../agent/host/clock.ts'
import { createHttpDownloader } from '../../agent/host/downloader.ts'
import { artifactPath } from '../../bundle/manifest.ts'
import { locateArtifact } from '../../catalog/artifact-source.ts'
import type { Lock, LockedArtifact } from '../../catalog/lock.ts'
import { writeNewFile } from '../../kit/files.ts'
import { runProgram } from '../../kit/command.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { EtcdPrograms } from '../../snapshot/temporary-etcd.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { openClusterBundle } from '../../workspace/open-cluster-bundle.ts'
import type { CommandContext } from '../command/command.ts'
import { cacheProgram } from '../environment/program-cache.ts'
import type { ByteProgress } from './progress.ts'

/** Maximum size of a download in bytes. Every etcd archive is smaller. */
const maxArchiveBytes = 1 << 30
const programNames = ['etcd', 'etcdutl'] as const

export interface EtcdProgramsOptions {
  readonly clusterFile: string
  readonly cluster: Cluster
  /** Lock that pins the version and digest of etcd. */
  readonly lock: Lock
}

export interface EtcdProgramsDeps extends Pick<CommandContext, 'bundles' | 'cacheDirectory' | 'signal'> {
  readonly progress: ByteProgress
}

/**
 * Returns etcd and etcdutl for the operator's machine, in the version that a lock pins. They are downloaded
 * and verified if they are not in the cache.
 */
export async function prepareEtcdPrograms(
  options: EtcdProgramsOptions,
  deps: EtcdProgramsDeps,
): Promise<EtcdPrograms> {
  const artifact = findLocalArtifact(options.lock)
  const { version, os, arch, sha256 } = artifact
  const folder = `etcd-v${version}-${os}-${arch}-${sha256.slice(0, 12)}`
  const directory = await cacheProgram(deps, folder, async (work) =>
    unpackPrograms(artifact, work, options, deps),
  )
  return { etcd: join(directory, 'etcd'), etcdutl: join(directory, 'etcdutl') }
}

const architectures: Readonly<Record<string, LockedArtifact['arch']>> = { x64: 'amd64', arm64: 'arm64' }

function findLocalArtifact({ artifacts }: Lock): LockedArtifact {
  const artifact = artifacts.find(
    ({ component, os, arch }) =>
      component === 'etcd' && os === process.platform && arch === architectures[process.arch],
  )
  if (artifact !== undefined) return artifact
  const message = `the lock has no etcd that runs on ${process.platform} on ${process.arch}`
  throw new HyperkubeError('SNAPSHOT_NO_PROGRAM', message, {
    hint: 'the same on a Linux machine of the same architecture as the members of etcd',
  })
}

/** Fetches the archive and unpacks its programs into a directory. */
async function unpackPrograms(
  artifact: LockedArtifact,
  work: string,
  options: EtcdProgramsOptions,
  deps: EtcdProgramsDeps,
): Promise<string> {
  const archive = await fetchArchive(artifact, work, options, deps)
  const folder = basename(artifact.url).replace(/\.tar\.gz$/, '')
  const members = programNames.map((name) => `${folder}/${name}`)
  await runProgram(['tar', '-xzf', archive, '-C', work, ...members], { signal: deps.signal })
  for (const name of programNames) await chmod(join(work, folder, name), 0o755)
  return join(work, folder)
}

async function fetchArchive(
  artifact: LockedArtifact,
  directory: string,
  { clusterFile, cluster }: EtcdProgramsOptions,
  deps: EtcdProgramsDeps,
): Promise<string> {
  const target = join(directory, basename(artifact.url))
  await using bundle = await openClusterBundle(deps, clusterFile, cluster)
  const path = artifactPath(artifact)
  const member = bundle?.manifest.members.find((one) => one.path === path)
  const sha256 =
    bundle !== undefined && member !== undefined
      ? (await writeNewFile(target, bundle.content(member))).sha256
      : await download(locateArtifact(artifact.url, cluster.spec.artifacts), target, deps)
  if (sha256 === artifact.sha256) return target
  throw new HyperkubeError(
    'SNAPSHOT_WRONG_PROGRAM',
    `${artifact.url} is not what the lock says: its SHA-256 is ${sha256}, and should be ${artifact.sha256}`,
    { hint: 'fix the file at its source; hyperkube lock --check shows whether upstream has changed it' },
  )
}

async function download(
  url: string,
  target: string,
  { progress, signal }: EtcdProgramsDeps,
): Promise<string> {
  const report = progress.track(`downloading ${url}`)
  return createHttpDownloader((path) => path, systemClock).download({
    url,
    into: target,
    maxBytes: maxArchiveBytes,
    progress: (done, total) => report(done, total ?? done),
    signal,
  })
}
