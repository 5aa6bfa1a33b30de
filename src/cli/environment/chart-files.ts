import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'

/** A chart in memory: an archive, or the files of a directory by their path in the directory. */
export type ChartFiles =
  | { readonly kind: 'archive'; readonly bytes: Uint8Array }
  | { readonly kind: 'directory'; readonly files: ReadonlyMap<string, Uint8Array> }

/** Maximum size of a chart in bytes, and of its directory in files. Published charts are much smaller. */
export const maxChartBytes = 64 << 20
const maxChartFiles = 10_000

/** Reads a chart archive or directory. */
export async function readChartFiles(path: string, signal: AbortSignal): Promise<ChartFiles> {
  try {
    const { size } = await stat(path)
    if (size > maxChartBytes) throw buildNotReadError(path, 'is too large for a chart')
    return { kind: 'archive', bytes: await readFile(path, { signal }) }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) throw buildNotReadError(path, 'does not exist', error)
    if (!hasCode(error, 'EISDIR')) throw error
  }
  return { kind: 'directory', files: await readDirectory(path, signal) }
}

async function readDirectory(path: string, signal: AbortSignal): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>()
  const pending = ['']
  let size = 0
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of await readdir(join(path, folder), { withFileTypes: true })) {
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) pending.push(name)
      else if (entry.isFile()) files.set(name, await readFile(join(path, name), { signal }))
      // The digest covers files of the directory only, and a link may point to any file.
      else throw buildNotReadError(path, `contains ${name}, which is neither a file nor a directory`)
      size += files.get(name)?.length ?? 0
      if (size > maxChartBytes || files.size > maxChartFiles)
        throw buildNotReadError(path, 'is too large for a chart')
    }
  }
  return files
}

/** Returns the digest of an archive, or of the list of names and digests of a directory. */
export function computeChartDigest(chart: ChartFiles): string {
  if (chart.kind === 'archive') return sha256(chart.bytes)
  const lines = [...chart.files].map(([name, bytes]) => `${sha256(bytes)}  ${JSON.stringify(name)}\n`)
  return sha256(Buffer.from(lines.toSorted().join('')))
}

/** Writes a chart into a private directory and returns the path that Helm reads. */
export async function writeChartFiles(chart: ChartFiles, directory: string): Promise<string> {
  if (chart.kind === 'archive') {
    const archive = join(directory, 'chart.tgz')
    await writeFile(archive, chart.bytes, { mode: 0o600 })
    return archive
  }
  const target = join(directory, 'chart')
  await mkdir(target, { mode: 0o700 })
  for (const [name, bytes] of chart.files) {
    await mkdir(dirname(join(target, name)), { recursive: true, mode: 0o700 })
    await writeFile(join(target, name), bytes, { mode: 0o600 })
  }
  return target
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function buildNotReadError(path: string, problem: string, cause?: unknown): HyperkubeError {
  return new HyperkubeError('CHART_NOT_READ', `${path} ${problem}`, {
    hint: 'chart.path is the directory with Chart.yaml or a .tgz file, relative to cluster.yml',
    ...(cause === undefined ? {} : { cause }),
  })
}
