import { chmod } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { systemClock } from '../../agent/host/clock.ts'
import { createHttpDownloader } from '../../agent/host/downloader.ts'
import { type ArtifactSource, locateArtifact } from '../../catalog/artifact-source.ts'
import {
  type ArtifactTarget,
  conformanceArtifact,
  conformanceBinaryPath,
  kubernetesArtifact,
  type UpstreamArtifact,
} from '../../catalog/artifacts.ts'
import { maxChecksumFileBytes, readChecksum } from '../../catalog/checksum.ts'
import { runProgram } from '../../kit/command.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { ClusterWeb } from '../../workspace/cluster-web.ts'
import type { CommandContext } from '../command/command.ts'
import { cacheProgram } from '../environment/program-cache.ts'

/** Maximum size of a download in bytes. Every test archive is smaller. */
const maxArchiveBytes = 4 * 2 ** 30

export type SuiteProgramDeps = Pick<CommandContext, 'cacheDirectory' | 'signal'> & {
  /** Opens the connections to the source of the programs. */
  readonly openWeb: () => Promise<Pick<ClusterWeb, 'fetcher' | 'route'>>
  readonly writeLine: (line: string) => void
}

export interface SuiteProgramOptions {
  readonly kubernetes: string
  readonly source: ArtifactSource
  readonly target: ArtifactTarget
}

/**
 * Returns the path of the conformance suite of Kubernetes for the operator's machine. The suite is downloaded
 * and verified if it is not in the cache.
 */
export async function prepareSuiteProgram(
  options: SuiteProgramOptions,
  deps: SuiteProgramDeps,
): Promise<string> {
  const artifact = conformanceArtifact(options.kubernetes, options.target)
  return prepareProgram(artifact, 'e2e.test', options.source, deps, async (archive, directory) => {
    await runProgram(['tar', '-xzf', archive, '-C', directory, conformanceBinaryPath], {
      signal: deps.signal,
    })
    return join(directory, conformanceBinaryPath)
  })
}

/** Returns the path of kubectl in the Kubernetes version of the suite. Tests of sig-cli run kubectl. */
export async function prepareKubectl(options: SuiteProgramOptions, deps: SuiteProgramDeps): Promise<string> {
  const artifact = kubernetesArtifact('kubectl', options.kubernetes, options.target)
  return prepareProgram(artifact, 'kubectl', options.source, deps, async (file) => file)
}

/** Extracts the program from a download into the given directory, and returns its path. */
type Unpack = (file: string, directory: string) => Promise<string>

async function prepareProgram(
  artifact: UpstreamArtifact,
  name: string,
  source: ArtifactSource,
  deps: SuiteProgramDeps,
  unpack: Unpack,
): Promise<string> {
  const { version, os, arch } = artifact
  return cacheProgram(deps, join(`v${version}-${os}-${arch}`, name), async (work) => {
    const program = await unpack(await downloadArtifact(artifact, source, work, deps), work)
    await chmod(program, 0o755)
    return program
  })
}

async function downloadArtifact(
  artifact: UpstreamArtifact,
  source: ArtifactSource,
  directory: string,
  { openWeb, signal, writeLine }: SuiteProgramDeps,
): Promise<string> {
  const { fetcher, route } = await openWeb()
  const url = locateArtifact(artifact.url, source)
  const expectedSha256 = await fetchPublishedDigest(artifact, source, fetcher, signal)
  const target = join(directory, basename(artifact.url))
  writeLine(`downloading ${url}`)
  const sha256 = await createHttpDownloader((path) => path, systemClock).download({
    url,
    into: target,
    maxBytes: maxArchiveBytes,
    route,
    progress: reportTenths(writeLine),
    signal,
  })
  if (sha256 === expectedSha256) return target
  throw new HyperkubeError(
    'CONFORMANCE_WRONG_DIGEST',
    `${url} does not match its checksum file: the SHA-256 is ${sha256}, expected ${expectedSha256}`,
    { hint: 'fix the file on the mirror, or use local binaries: --program PATH --kubectl PATH' },
  )
}

async function fetchPublishedDigest(
  { checksum, url }: UpstreamArtifact,
  source: ArtifactSource,
  fetcher: ClusterWeb['fetcher'],
  signal: AbortSignal,
): Promise<string> {
  if (checksum === undefined) throw new Error(`${url} has no checksum`)
  const checksumUrl = locateArtifact(checksum.url, source)
  const checksumResult = readChecksum(
    await fetcher.text(checksumUrl, maxChecksumFileBytes, signal),
    checksum.format,
    basename(url),
  )
  if (checksumResult.ok) return checksumResult.sha256
  throw new HyperkubeError('CONFORMANCE_CHECKSUM', `${checksumUrl} ${checksumResult.reason}`, {
    hint: 'fix the checksum file on the mirror, or use local binaries: --program PATH --kubectl PATH',
  })
}

/** Reports each completed tenth of a download. */
function reportTenths(writeLine: (line: string) => void): (done: number, total: number | undefined) => void {
  let reportedTenths = 0
  return (done, total) => {
    const tenths = total === undefined ? 0 : Math.floor((done / total) * 10)
    if (total === undefined || tenths <= reportedTenths) return
    reportedTenths = tenths
    writeLine(`  ${tenths * 10} % of ${Math.round(total / 1e6)} MB`)
  }
}
