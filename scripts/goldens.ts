import { createHash } from 'node:crypto'
import { globSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import packageFile from '../package.json' with { type: 'json' }
import { type ReleasedVersion, readReleasedVersions } from './release/released.ts'

/**
 * Golden files are documents as a release wrote them. Their names contain the version of the format, such as
 * `ledger.v1.json`. A list with their digests is frozen for each release, and
 * src/cli/released-formats.test.ts checks that the digests stay the same and that hyperkube reads the files.
 */
const root = join(import.meta.dirname, '..')

/** Lists the golden files of all formats, as paths from the root of the repository. */
export function listGoldens(): readonly string[] {
  return globSync('src/**/testdata/*', { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /(?:\/|\.)v\d+(?:-[\w-]+)?\.\w+$/.test(path))
    .toSorted()
}

/** Renders the list of a release as `sha256sum --check` reads it. */
export async function renderGoldens(paths: readonly string[]): Promise<string> {
  const lines = paths.map(async (path) => {
    const content = await readFile(join(root, path))
    return `${createHash('sha256').update(content).digest('hex')}  ${path}\n`
  })
  return (await Promise.all(lines)).join('')
}

/** Throws if the golden files of a version are frozen. */
export function requireUnreleased(version: string, released: readonly ReleasedVersion[]): void {
  if (released.some((one) => one.version === version))
    throw new Error(`hyperkube ${version} is released; set the next version in package.json`)
}

if (import.meta.main) {
  requireUnreleased(packageFile.version, readReleasedVersions())
  const directory = join(root, 'scripts/goldens')
  const file = join(directory, `${packageFile.version}.sha256`)
  await mkdir(directory, { recursive: true })
  await writeFile(file, await renderGoldens(listGoldens()))
  process.stdout.write(`${file}\n`)
}
