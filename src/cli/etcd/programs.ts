import { chmod } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { systemClock } from '../../agent/host/clock.ts'
import { httpFetch } from '../../agent/host/http-downloader.ts'
import { artifactPath } from '../../bundle/manifest.ts'
import type { LockedArtifact, Lock } from '../../catalog/lock.ts'
import { locate } from '../../catalog/artifact-source.ts'
import { run } from '../../kit/command.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { writeNew } from '../../snapshot/file-bytes.ts'
import type { EtcdPrograms } from '../../snapshot/temporary-etcd.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { openClusterBundle } from '../bundle/open-cluster-bundle.ts'
import type { Context } from '../command.ts'
import { keepProgram } from '../program-cache.ts'
import type { ByteProgress } from './progress.ts'

/** No archive of etcd comes near it, in bytes. */
const largest = 1 << 30
const names = ['etcd', 'etcdutl'] as const

export interface ProgramsWish {
  readonly clusterFile: string
  readonly cluster: Cluster
  /** By which programs are known. */
  readonly lock: Lock
}

export interface ProgramsWorld extends Pick<Context, 'bundles' | 'cacheDirectory' | 'signal'> {
  readonly progress: ByteProgress
}

/** etcd as a lock pins it, for this machine: from the cache, or fetched, checked and kept there. */
export async function etcdPrograms(wish: ProgramsWish, world: ProgramsWorld): Promise<EtcdPrograms> {
  const artifact = ownArtifact(wish.lock)
  const { version, os, arch, sha256 } = artifact
  const folder = `etcd-v${version}-${os}-${arch}-${sha256.slice(0, 12)}`
  const place = await keepProgram(world, folder, async (work) => unpacked(artifact, work, wish, world))
  return { etcd: join(place, 'etcd'), etcdutl: join(place, 'etcdutl') }
}

const architectures: Readonly<Record<string, LockedArtifact['arch']>> = { x64: 'amd64', arm64: 'arm64' }

function ownArtifact({ artifacts }: Lock): LockedArtifact {
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

/** The programs of an archive, in a directory. */
async function unpacked(
  artifact: LockedArtifact,
  work: string,
  wish: ProgramsWish,
  world: ProgramsWorld,
): Promise<string> {
  const archive = await fetchArchive(artifact, work, wish, world)
  const folder = basename(artifact.url).replace(/\.tar\.gz$/, '')
  const members = names.map((name) => `${folder}/${name}`)
  await run(['tar', '-xzf', archive, '-C', work, ...members], { signal: world.signal })
  for (const name of names) await chmod(join(work, folder, name), 0o755)
  return join(work, folder)
}

async function fetchArchive(
  artifact: LockedArtifact,
  directory: string,
  { clusterFile, cluster }: ProgramsWish,
  world: ProgramsWorld,
): Promise<string> {
  const into = join(directory, basename(artifact.url))
  await using bundle = await openClusterBundle(world, clusterFile, cluster)
  const path = artifactPath(artifact)
  const member = bundle?.manifest.members.find((one) => one.path === path)
  const sha256 =
    bundle !== undefined && member !== undefined
      ? (await writeNew(into, bundle.content(member))).sha256
      : await download(locate(artifact.url, cluster.spec.artifacts), into, world)
  if (sha256 === artifact.sha256) return into
  throw new HyperkubeError(
    'SNAPSHOT_WRONG_PROGRAM',
    `${artifact.url} is not what the lock says: its SHA-256 is ${sha256}, and should be ${artifact.sha256}`,
    { hint: 'mend the file at its source; hyperkube lock --check says whether upstream has changed it' },
  )
}

async function download(url: string, into: string, { progress, signal }: ProgramsWorld): Promise<string> {
  const told = progress.of(`downloading ${url}`)
  return httpFetch((path) => path, systemClock).download({
    url,
    into,
    limit: largest,
    progress: (done, total) => told(done, total ?? done),
    signal,
  })
}
