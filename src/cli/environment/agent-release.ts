import { createReadStream } from 'node:fs'
import { chmod, mkdir, readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { getRawAsset, isSea } from 'node:sea'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import packageFile from '../../../package.json' with { type: 'json' }
import { systemClock } from '../../agent/host/clock.ts'
import { createHttpDownloader } from '../../agent/host/downloader.ts'
import type { Arch, Os } from '../../catalog/artifacts.ts'
import { locateArtifact } from '../../catalog/artifact-source.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { fileExists, readFileBytes, writeNewFile } from '../../kit/files.ts'
import type { AgentRelease } from '../../lifecycle/agents/agent-release.ts'
import { readRelease } from '../../lifecycle/agents/release-file.ts'
import { decodeTable, isOfRelease, type ReleaseTable, tableAsset } from '../../contract/release-table.ts'
import type { ReleaseOrigin } from '../../workspace/context.ts'
import { cacheProgram } from './program-cache.ts'

const fileNames: Readonly<Record<Os, Partial<Record<Arch, string>>>> = {
  linux: { amd64: 'hyperkube-linux-x64', arm64: 'hyperkube-linux-arm64' },
  windows: { amd64: 'hyperkube-windows-x64.exe' },
}
const platforms: Readonly<Record<Os, NodeJS.Platform>> = { linux: 'linux', windows: 'win32' }
const localArches: Readonly<Record<string, Arch>> = { x64: 'amd64', arm64: 'arm64' }

export interface AgentReleaseDeps {
  /** Path of the running executable. Undefined if Node.js runs the sources or the npm package. */
  readonly executable: string | undefined
  readonly cacheDirectory: () => string
  /** Table of this release. Undefined if the executable is not of a release. */
  readonly table: ReleaseTable | undefined
  /** Value of HYPERKUBE_RELEASE_URL, which overrides the URL in the table. */
  readonly url: string | undefined
  readonly writeLine: (line: string) => void
}

/** Reads the table of this release from the executable, or from the directory of the npm package. */
export async function readReleaseTable(): Promise<ReleaseTable | undefined> {
  if (isSea()) return decodeTable(new Uint8Array(getRawAsset(tableAsset)))
  const file = join(import.meta.dirname, tableAsset)
  return (await fileExists(file)) ? decodeTable(await readFile(file)) : undefined
}

/**
 * Finds the executable to install on hosts with an architecture and OS. If these are the same as on this
 * machine, returns the running executable. Otherwise the executable is beside the running one, in dist/ if
 * hyperkube runs from its sources, in the cache, or it is downloaded from the release.
 */
export async function findAgentRelease(
  arch: Arch,
  os: Os,
  deps: AgentReleaseDeps,
  origin: ReleaseOrigin,
): Promise<AgentRelease> {
  const { executable, cacheDirectory, table } = deps
  const isThisMachine =
    executable !== undefined && process.platform === platforms[os] && localArches[process.arch] === arch
  const name = fileNames[os][arch] ?? `hyperkube-${os}-${arch}`
  const directory =
    executable === undefined ? resolve(import.meta.dirname, '../../../dist') : dirname(executable)
  const file = isThisMachine ? executable : join(directory, name)
  if (!isThisMachine && table !== undefined) {
    const verified = (await fileExists(file)) ? file : await fetchExecutable(name, table, deps, origin)
    if (verified === undefined) throw notThereError(arch, os, file, deps)
    await verifyExecutable(verified, name, table)
    return readRelease(verified, packageFile.version, cacheDirectory)
  }
  if (!(await fileExists(file))) throw notThereError(arch, os, file, deps)
  return readRelease(file, packageFile.version, cacheDirectory)
}

function notThereError(
  arch: Arch,
  os: Os,
  file: string,
  { executable, table }: AgentReleaseDeps,
): HyperkubeError {
  const copy = `copy ${fileNames[os][arch] ?? 'the executable'} of the same release to ${dirname(file)}`
  const hint =
    table !== undefined
      ? `${copy}, or set HYPERKUBE_RELEASE_URL to a directory that contains it`
      : executable === undefined
        ? 'build it: npm run executable'
        : copy
  return new HyperkubeError('RELEASE_NOT_THERE', `no hyperkube executable for ${os} on ${arch} at ${file}`, {
    hint,
  })
}

async function verifyExecutable(file: string, name: string, table: ReleaseTable): Promise<void> {
  if (await isOfRelease(readFileBytes(file), name, table)) return
  throw new HyperkubeError(
    'RELEASE_NOT_THE_SAME',
    `${file} is not ${name} of this release (${packageFile.version})`,
    { hint: `remove it: rm ${file}` },
  )
}

/**
 * Returns the path of the executable in the cache; downloads it if it is not there. Returns undefined if
 * there is no URL, or if the cluster gets all files from a bundle.
 */
async function fetchExecutable(
  name: string,
  table: ReleaseTable,
  { cacheDirectory, url = table.url, writeLine }: AgentReleaseDeps,
  origin: ReleaseOrigin,
): Promise<string | undefined> {
  const expected = table.files[name]
  if (expected === undefined) return undefined
  const directoryName = `hyperkube-${packageFile.version}-${expected.sha256.slice(0, 12)}`
  const cached = join(cacheDirectory(), 'hyperkube', 'programs', directoryName, name)
  if (await fileExists(cached)) return cached
  const { artifacts } = origin
  if (url === undefined || (artifacts !== 'upstream' && 'bundle' in artifacts)) return undefined
  // HYPERKUBE_RELEASE_URL names the directory itself. Only the public URL is replaced by the mirror.
  const compressed = `${url.replace(/\/+$/, '')}/${name}.gz`
  const source = url === table.url ? locateArtifact(compressed, artifacts) : compressed
  const directory = await cacheProgram({ cacheDirectory }, directoryName, async (work) => {
    const complete = join(work, 'complete')
    await mkdir(complete)
    const archive = join(complete, `${name}.gz`)
    writeLine(`downloading ${source}`)
    await createHttpDownloader((path) => path, systemClock).download({
      url: source,
      into: archive,
      maxBytes: expected.size,
      route: await origin.openRoute(),
      progress: () => undefined,
      signal: origin.signal,
    })
    const isUnpacked = await unpack(archive, join(complete, name), expected.size)
    if (isUnpacked && (await isOfRelease(readFileBytes(join(complete, name)), name, table))) return complete
    throw new HyperkubeError(
      'RELEASE_NOT_THE_SAME',
      `${source} is not ${name} of this release (${packageFile.version})`,
      { hint: 'check the mirror or HYPERKUBE_RELEASE_URL; nothing was installed' },
    )
  })
  return join(directory, name)
}

/**
 * Unpacks a file. Returns false if it is not a gzip file. Content after `maxBytes` is dropped, and the digest
 * then differs.
 */
async function unpack(archive: string, file: string, maxBytes: number): Promise<boolean> {
  try {
    await pipeline(createReadStream(archive), createGunzip(), async (content: AsyncIterable<Uint8Array>) => {
      await writeNewFile(file, takeBytes(content, maxBytes))
    })
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) return false
    throw error
  }
  await chmod(file, 0o755)
  return true
}

async function* takeBytes(content: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of content) {
    size += chunk.length
    yield chunk
    if (size > maxBytes) return
  }
}
