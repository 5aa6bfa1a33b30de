import { chmod } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { LockedArtifact } from '../../catalog/lock.ts'
import { runProgram } from '../../kit/command.ts'
import type { EtcdPrograms } from '../../snapshot/temporary-etcd.ts'
import {
  buildCacheName,
  fetchLockedArtifact,
  findLocalArtifact,
  type LockedProgramDeps,
  type LockedProgramOptions,
} from '../environment/locked-program.ts'
import { cacheProgram } from '../environment/program-cache.ts'

const programNames = ['etcd', 'etcdutl'] as const

/**
 * Returns etcd and etcdutl for the operator's machine, in the version that a lock pins. They are downloaded
 * and verified if they are not in the cache.
 */
export async function prepareEtcdPrograms(
  options: LockedProgramOptions,
  deps: LockedProgramDeps,
): Promise<EtcdPrograms> {
  const artifact = findLocalArtifact(options.lock, 'etcd')
  const directory = await cacheProgram(deps, buildCacheName(artifact), async (work) =>
    unpackPrograms(artifact, work, options, deps),
  )
  return { etcd: join(directory, 'etcd'), etcdutl: join(directory, 'etcdutl') }
}

/** Returns the path of kube-apiserver for the operator's machine, in the version that a lock pins. */
export async function prepareApiServerProgram(
  options: LockedProgramOptions,
  deps: LockedProgramDeps,
): Promise<string> {
  const artifact = findLocalArtifact(options.lock, 'kube-apiserver')
  return cacheProgram(deps, buildCacheName(artifact), async (work) => {
    const program = await fetchLockedArtifact(artifact, work, options, deps)
    await chmod(program, 0o755)
    return program
  })
}

/** Fetches the archive and unpacks its programs into a directory. */
async function unpackPrograms(
  artifact: LockedArtifact,
  work: string,
  options: LockedProgramOptions,
  deps: LockedProgramDeps,
): Promise<string> {
  const archive = await fetchLockedArtifact(artifact, work, options, deps)
  const folder = basename(artifact.url).replace(/\.tar\.gz$/, '')
  const members = programNames.map((name) => `${folder}/${name}`)
  await runProgram(['tar', '-xzf', archive, '-C', work, ...members], { signal: deps.signal })
  for (const name of programNames) await chmod(join(work, folder, name), 0o755)
  return join(work, folder)
}
