import { chmod, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProgram } from '../../src/kit/command.ts'
import { encodeTable, type ReleaseTable, tableAsset, tableMagic } from '../../src/contract/release-table.ts'
import packageFile from '../../package.json' with { type: 'json' }
import { bundleProgram, hostScript } from '../executable.ts'
import type { ReleaseSource } from './source.ts'

const root = join(import.meta.dirname, '../..')

/**
 * Packs the program as an npm package and returns the file name. The package contains one bundled file and
 * has no dependencies. Hosts get the executable of the release, which the table in the package identifies.
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
    const { name, description, license, engines } = packageFile
    const manifest = {
      name,
      version: source.version,
      description,
      license,
      bin: { hyperkube: 'hyperkube.cjs' },
      engines,
    }
    await writeFile(join(content, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
    const bundle = join(work, 'bundle.cjs')
    await bundleProgram(bundle, { entry: 'src/main.ts', node: 22 })
    const program = `#!/usr/bin/env node\n${await readFile(bundle, 'utf8')}`
    await writeFile(join(content, 'hyperkube.cjs'), program)
    await chmod(join(content, 'hyperkube.cjs'), 0o755)
    await copyFile(hostScript, join(content, 'host.ps1'))
    await writeFile(join(content, tableAsset), Buffer.concat([tableMagic, encodeTable(table)]))
    for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md'])
      await copyFile(join(root, file), join(content, file))
    // npm sets the same owner and time for all files of a package.
    const { stdout } = await runProgram(['npm', 'pack', '--silent', '--pack-destination', directory, content])
    return stdout.trim().split('\n').at(-1) ?? ''
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
