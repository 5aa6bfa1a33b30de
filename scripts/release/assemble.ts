import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { completionScripts } from '../../src/cli/completion/scripts.ts'
import { runProgram } from '../../src/kit/command.ts'
import { bundleProgram, compressExecutable } from '../executable.ts'
import { bundleInterface } from '../ui-bundle.ts'
import { readRuntimeVersions } from '../executable/runtime.ts'
import { writeReleaseTable } from '../executable/write-release-table.ts'
import { renderManPages } from '../man-pages.ts'
import { packTar } from './archive.ts'
import { formatChecksums, hashFiles } from './checksums.ts'
import { packImage, type PlatformImage } from './image.ts'
import { type LibraryPackage, writeImageFiles } from './image-files.ts'
import { buildDebianPackage, buildRpmPackage } from './linux-packages.ts'
import { type MinisignKey, signContent } from './minisign.ts'
import { packNpmTarball } from './npm-tarball.ts'
import { renderProvenance } from './provenance.ts'
import { extractReleaseNotes } from './release-notes.ts'
import { renderCycloneDx, renderSpdx } from './sbom.ts'
import { findLicenseProblems, listShippedPackages } from './shipped-packages.ts'
import type { ReleaseSource } from './source.ts'

export interface AssembleOptions {
  readonly source: ReleaseSource
  /** Empty directory for the release. It already contains the executables. */
  readonly directory: string
  /** Paths of the executables. */
  readonly executables: readonly string[]
  /** Public key of minisign, which executables contain. */
  readonly publicKey: string
  /** Secret key. Without it the release is the same, but not signed. */
  readonly key: MinisignKey | undefined
  /** Directory of the release on the web. */
  readonly url?: string | undefined
  readonly repository: string
  readonly builder: string
  readonly onStep: (title: string) => void
}

const root = join(import.meta.dirname, '../..')

/** Makes all files of a release from its executables. The last files are the checksums and their signature. */
export async function assembleRelease(options: AssembleOptions): Promise<void> {
  const { source, directory, executables, publicKey, key, url, onStep } = options
  const write = async (name: string, text: string): Promise<void> => writeFile(join(directory, name), text)
  onStep('digests of the executables')
  const table = await writeReleaseTable(executables, { url, publicKey })
  const license = await readFile(join(root, 'LICENSE'), 'utf8')
  const linux = executables.flatMap((executable) => {
    const arch = /^hyperkube-linux-(x64|arm64)$/.exec(basename(executable))?.[1]
    return arch === 'x64' || arch === 'arm64' ? [{ executable, arch } as const] : []
  })
  for (const platform of linux) {
    onStep(`packages for ${platform.arch}`)
    await buildDebianPackage({ source, license, directory, ...platform })
    await buildRpmPackage({ source, license, directory, ...platform })
  }
  onStep('image')
  const libraries = linux.length === 0 ? [] : await buildImage(source, linux, directory)
  for (const executable of executables) {
    onStep(`compress ${basename(executable)}`)
    await compressExecutable(executable)
  }
  onStep('npm package')
  await packNpmTarball(source, table, directory)
  onStep('documents')
  await packDocuments(source, directory)
  const bundle = await bundleProgram(join(directory, '.bundle.cjs'), { entry: 'src/main.ts', node: 24 })
  const webBundle = await bundleInterface(join(directory, '.ui'))
  const packages = await listShippedPackages({ outputs: { ...bundle.outputs, ...webBundle.outputs } })
  const [refused] = findLicenseProblems(packages)
  if (refused !== undefined) throw new Error(`${refused.name} has the licence ${refused.license}`)
  const { runtimes, pins } = await readRuntimeVersions(executables.map((file) => basename(file)))
  const sbom = { source, packages, runtimes, libraries }
  await write(`hyperkube-${source.version}.cdx.json`, renderCycloneDx(sbom))
  await write(`hyperkube-${source.version}.spdx.json`, renderSpdx(sbom))
  const changelog = await readFile(join(root, 'CHANGELOG.md'), 'utf8')
  await write('RELEASE_NOTES.md', extractReleaseNotes(changelog, source.version, !source.isTagged))
  const script = await readFile(join(root, 'scripts/release/install.sh'), 'utf8')
  const settings = { '@VERSION@': source.version, '@PUBLIC_KEY@': publicKey, '@URL@': url ?? '' }
  await write(
    'install.sh',
    Object.entries(settings).reduce((text, [name, value]) => text.replaceAll(name, value), script),
  )
  await rm(join(directory, '.bundle.cjs'))
  await rm(join(directory, '.ui'), { recursive: true })
  const digests = await hashFiles(directory)
  await write(
    'provenance.intoto.json',
    renderProvenance({ ...options, digests, libraries, packages: [...packages, ...pins] }),
  )
  const checksums = formatChecksums(await hashFiles(directory))
  await write('SHA256SUMS', checksums)
  if (key === undefined) return
  const comment = `hyperkube ${source.version}${source.isTagged ? '' : ' test release, not for use'}`
  await write('SHA256SUMS.minisig', signContent(Buffer.from(checksums), key, comment))
}

/** Builds the image, and returns the packages of its libraries. */
async function buildImage(
  source: ReleaseSource,
  linux: readonly Omit<PlatformImage, 'files'>[],
  directory: string,
): Promise<readonly LibraryPackage[]> {
  const work = join(directory, '.image-files')
  try {
    const platforms = linux.map((platform) => ({ ...platform, files: join(work, platform.arch) }))
    const libraries = []
    for (const { arch, files } of platforms) libraries.push(...(await writeImageFiles(files, arch)))
    await packImage(source, platforms, directory)
    return libraries
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Packs manual pages and shell completions into one archive. */
async function packDocuments({ version, epoch }: ReleaseSource, directory: string): Promise<void> {
  const work = join(directory, '.documents')
  const content = join(work, `hyperkube-${version}`)
  await mkdir(join(content, 'man'), { recursive: true })
  await mkdir(join(content, 'completions'))
  for (const [name, text] of await renderManPages()) await writeFile(join(content, 'man', name), text)
  for (const [shell, text] of Object.entries(completionScripts))
    await writeFile(join(content, 'completions', `hyperkube.${shell}`), text)
  await cp(join(root, 'LICENSE'), join(content, 'LICENSE'))
  const archive = join(directory, `hyperkube-${version}-man-and-completions.tar`)
  await packTar(archive, work, [`hyperkube-${version}`], epoch)
  await runProgram(['gzip', '-n', '-f', '-9', archive])
  await rm(work, { recursive: true })
}
