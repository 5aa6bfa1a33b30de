import { chmod, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProgram } from '../../src/kit/command.ts'
import { encodeTable, type ReleaseTable, tableAsset, tableMagic } from '../../src/contract/release-table.ts'
import { webAssets } from '../../src/ui/web-files.ts'
import { bundleProgram, hostScript } from '../executable.ts'
import { bundleInterface } from '../ui-bundle.ts'
import { buildManifest, emitDeclarations, stagePackage } from '../sdk.ts'
import type { ReleaseSource } from './source.ts'

const root = join(import.meta.dirname, '../..')

/**
 * Packs the npm package and returns the file name. It contains the program as one bundled file, and the
 * modules and types of the SDK, which need the dependencies. Hosts get the executable of the release, which
 * the table in the package identifies.
 */
export async function packNpmTarball(
  source: ReleaseSource,
  table: ReleaseTable,
  directory: string,
): Promise<string> {
  const work = join(directory, '.npm')
  const content = join(work, 'package')
  try {
    await mkdir(content, { recursive: true })
    await stagePackage(content, await emitDeclarations())
    const program = 'hyperkube.cjs'
    const bundle = join(work, 'bundle.cjs')
    await bundleProgram(bundle, { entry: 'src/main.ts', node: 22 })
    await writeFile(join(content, program), `#!/usr/bin/env node\n${await readFile(bundle, 'utf8')}`)
    await chmod(join(content, program), 0o755)
    await copyFile(hostScript, join(content, 'host.ps1'))
    await bundleInterface(content)
    await writeFile(join(content, tableAsset), Buffer.concat([tableMagic, encodeTable(table)]))
    await copyFile(join(root, 'CHANGELOG.md'), join(content, 'CHANGELOG.md'))
    const { files, ...manifest } = buildManifest()
    const extended = {
      ...manifest,
      version: source.version,
      bin: { hyperkube: program },
      files: [...files, program, 'host.ps1', ...Object.values(webAssets), tableAsset, 'CHANGELOG.md'],
    }
    await writeFile(join(content, 'package.json'), `${JSON.stringify(extended, undefined, 2)}\n`)
    // npm sets the same owner and time for all files of a package.
    const { stdout } = await runProgram(['npm', 'pack', '--silent', '--pack-destination', directory, content])
    return stdout.trim().split('\n').at(-1) ?? ''
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
