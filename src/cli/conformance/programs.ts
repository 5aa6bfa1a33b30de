import { chmod } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { systemClock } from '../../agent/host/clock.ts'
import { httpFetch } from '../../agent/host/http-downloader.ts'
import { upstreamArtifacts, type UpstreamArtifact } from '../../catalog/artifacts.ts'
import { catalogFor } from '../../catalog/catalog.ts'
import { largestChecksumFile, readChecksum } from '../../catalog/checksum.ts'
import { conformanceArtifact, suiteMember } from '../../catalog/conformance-artifact.ts'
import { type ArtifactSource, locate } from '../../catalog/artifact-source.ts'
import type { Target } from '../../catalog/artifact-target.ts'
import { run } from '../../kit/command.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Context } from '../command.ts'
import { keepProgram } from '../program-cache.ts'

/** No archive of tests comes near it, in bytes. */
const largest = 4 * 2 ** 30

export type ProgramWorld = Pick<Context, 'cacheDirectory' | 'fetcher' | 'signal'> & {
  readonly say: (line: string) => void
}

export interface ProgramWish {
  readonly kubernetes: string
  readonly source: ArtifactSource
  readonly target: Target
}

/** Upstream's suite of a version, for this machine: from the cache, or fetched, checked and kept there. */
export async function suiteProgram(wish: ProgramWish, world: ProgramWorld): Promise<string> {
  const artifact = conformanceArtifact(wish.kubernetes, wish.target)
  return kept(artifact, 'e2e.test', wish.source, world, async (archive, directory) => {
    await run(['tar', '-xzf', archive, '-C', directory, suiteMember], { signal: world.signal })
    return join(directory, suiteMember)
  })
}

/** kubectl of the same version, with which tests of sig-cli do their work. */
export async function kubectlProgram(wish: ProgramWish, world: ProgramWorld): Promise<string> {
  const artifact = upstreamArtifacts(catalogFor(wish.kubernetes), wish.target).find(
    ({ component }) => component === 'kubectl',
  )
  if (artifact === undefined) throw new Error('the catalog has no kubectl')
  return kept(artifact, 'kubectl', wish.source, world, async (file) => file)
}

/** The program in a download; what is written is in a directory of its own. */
type Unpack = (file: string, directory: string) => Promise<string>

async function kept(
  artifact: UpstreamArtifact,
  name: string,
  source: ArtifactSource,
  world: ProgramWorld,
  unpack: Unpack,
): Promise<string> {
  const { version, os, arch } = artifact
  return keepProgram(world, join(`v${version}-${os}-${arch}`, name), async (work) => {
    const program = await unpack(await download(artifact, source, work, world), work)
    await chmod(program, 0o755)
    return program
  })
}

async function download(
  artifact: UpstreamArtifact,
  source: ArtifactSource,
  directory: string,
  { fetcher, signal, say }: ProgramWorld,
): Promise<string> {
  const url = locate(artifact.url, source)
  const wanted = await publishedDigest(artifact, source, fetcher, signal)
  const into = join(directory, basename(artifact.url))
  say(`downloading ${url}`)
  const sha256 = await httpFetch((path) => path, systemClock).download({
    url,
    into,
    limit: largest,
    progress: inTenths(say),
    signal,
  })
  if (sha256 === wanted) return into
  throw new HyperkubeError(
    'CONFORMANCE_WRONG_DIGEST',
    `${url} is not what its checksum file says: its SHA-256 is ${sha256}, and should be ${wanted}`,
    { hint: 'mend the file at its source, or name a program that you have with --program or --kubectl' },
  )
}

async function publishedDigest(
  { checksum, url }: UpstreamArtifact,
  source: ArtifactSource,
  fetcher: ProgramWorld['fetcher'],
  signal: AbortSignal,
): Promise<string> {
  if (checksum === undefined) throw new Error(`${url} has no checksum`)
  const at = locate(checksum.url, source)
  const read = readChecksum(
    await fetcher.text(at, largestChecksumFile, signal),
    checksum.format,
    basename(url),
  )
  if (read.ok) return read.sha256
  throw new HyperkubeError('CONFORMANCE_CHECKSUM', `${at} ${read.reason}`, {
    hint: 'mend it at its source, or name a program that you have with --program or --kubectl',
  })
}

/** Says how far a download is, ten times. */
function inTenths(say: (line: string) => void): (done: number, total: number | undefined) => void {
  let told = 0
  return (done, total) => {
    const tenths = total === undefined ? 0 : Math.floor((done / total) * 10)
    if (total === undefined || tenths <= told) return
    told = tenths
    say(`  ${tenths * 10} % of ${Math.round(total / 1e6)} MB`)
  }
}
