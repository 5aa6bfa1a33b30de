import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { completionScripts } from '../../src/cli/completion/scripts.ts'
import { runProgram } from '../../src/kit/command.ts'
import { bundleProgram, compressExecutable } from '../executable.ts'
import { readRuntimeVersions } from '../executable/runtime.ts'
import { writeReleaseTable } from '../executable/write-release-table.ts'
import { renderManPages } from '../man-pages.ts'
import { formatChecksums, hashFiles } from './checksums.ts'
import { buildDebianPackage, buildRpmPackage } from './linux-packages.ts'
import { formatPublicKey, type MinisignKey, signContent } from './minisign.ts'
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
  readonly key: MinisignKey
  /** Directory of the release on the web. */
  readonly url?: string | undefined
  readonly repository: string
  readonly builder: string
  readonly onStep: (title: string) => void
}

const root = join(import.meta.dirname, '../..')

/** Makes all files of a release from its executables. The last files are the checksums and their signature. */
export async function assembleRelease(options: AssembleOptions): Promise<void> {
  const { source, directory, executables, key, url, onStep } = options
  const write = async (name: string, text: string): Promise<void> => writeFile(join(directory, name), text)
  onStep('digests of the executables')
  const table = await writeReleaseTable(executables, url)
  const license = await readFile(join(root, 'LICENSE'), 'utf8')
  for (const executable of executables) {
    const arch = /^hyperkube-linux-(x64|arm64)$/.exec(basename(executable))?.[1]
    if (arch !== 'x64' && arch !== 'arm64') continue
    onStep(`packages for ${arch}`)
    const packageOptions = { source, executable, arch, license, directory } as const
    await buildDebianPackage(packageOptions)
    await buildRpmPackage(packageOptions)
  }
  for (const executable of executables) {
    onStep(`compress ${basename(executable)}`)
    await compressExecutable(executable)
  }
  onStep('npm package')
  await packNpmTarball(source, table, directory)
  onStep('documents')
  await packDocuments(source, directory)
  const bundle = await bundleProgram(join(directory, '.bundle.cjs'), { entry: 'src/main.ts', node: 24 })
  const packages = await listShippedPackages(bundle)
  const [refused] = findLicenseProblems(packages)
  if (refused !== undefined) throw new Error(`${refused.name} has the licence ${refused.license}`)
  const { runtimes, pins } = await readRuntimeVersions(executables.map((file) => basename(file)))
  const sbom = { source, packages, runtimes }
  await write(`hyperkube-${source.version}.cdx.json`, renderCycloneDx(sbom))
  await write(`hyperkube-${source.version}.spdx.json`, renderSpdx(sbom))
  const changelog = await readFile(join(root, 'CHANGELOG.md'), 'utf8')
  await write('RELEASE_NOTES.md', extractReleaseNotes(changelog, source.version, !source.isTagged))
  const script = await readFile(join(root, 'scripts/release/install.sh'), 'utf8')
  const settings = { '@VERSION@': source.version, '@PUBLIC_KEY@': formatPublicKey(key), '@URL@': url ?? '' }
  await write(
    'install.sh',
    Object.entries(settings).reduce((text, [name, value]) => text.replaceAll(name, value), script),
  )
  await runProgram(['rm', '-f', join(directory, '.bundle.cjs')])
  const digests = await hashFiles(directory)
  await write(
    'provenance.intoto.json',
    renderProvenance({ ...options, digests, packages: [...packages, ...pins] }),
  )
  const checksums = formatChecksums(await hashFiles(directory))
  await write('SHA256SUMS', checksums)
  const comment = `hyperkube ${source.version}${source.isTagged ? '' : ' test release, not for use'}`
  await write('SHA256SUMS.minisig', signContent(Buffer.from(checksums), key, comment))
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
  await runProgram([
    'tar',
    '--sort=name',
    `--mtime=@${epoch}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u=rwX,go=rX',
    '-C',
    work,
    '-cf',
    archive,
    `hyperkube-${version}`,
  ])
  await runProgram(['gzip', '-n', '-f', '-9', archive])
  await runProgram(['rm', '-r', work])
}
