import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { emitDeclarations, stagePackage } from '../../../scripts/sdk.ts'
import { runProgram } from '../../../src/kit/command.ts'

/** Cost of a package in an otherwise empty project. */
export interface PackageCost {
  readonly version: string
  /** Number of installed packages, with the package itself. */
  readonly packages: number
  /** Bytes of all installed files. */
  readonly size: number
  /** CPU time of an import in milliseconds: the median of five processes. */
  readonly importMs: number
}

/** Packs hyperkube and returns the path and the size of the archive. */
export async function packHyperkube(directory: string): Promise<{ archive: string; size: number }> {
  const staged = join(directory, 'staged')
  await stagePackage(staged, await emitDeclarations())
  const { stdout } = await runProgram(['npm', 'pack', '--silent', '--pack-destination', directory], {
    cwd: staged,
  })
  const archive = join(directory, stdout.trim())
  return { archive, size: (await stat(archive)).size }
}

/** Installs a package without optional packages, as an empty project would. Returns the project. */
export async function installPackage(directory: string, name: string, id: string): Promise<string> {
  const project = join(directory, name.replaceAll(/\W/g, ''))
  await mkdir(project)
  await writeFile(join(project, 'package.json'), '{ "type": "module" }')
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--omit=optional']
  await runProgram(['npm', 'install', ...flags, id], { cwd: project })
  return project
}

const lockFile = z.object({ packages: z.record(z.string(), z.object({ version: z.string() })) })

export async function measurePackage(project: string, name: string, entry: string): Promise<PackageCost> {
  const modules = join(project, 'node_modules')
  const { packages } = lockFile.parse(JSON.parse(await readFile(join(modules, '.package-lock.json'), 'utf8')))
  const times: number[] = []
  for (let turn = 0; turn < 5; turn++) {
    // CPU time, because the elapsed time depends on other work of the machine.
    const script = `const began = process.cpuUsage(); await import('${entry}')
      const { user, system } = process.cpuUsage(began); console.log((user + system) / 1000)`
    const { stdout } = await runProgram([process.execPath, '--input-type=module', '-e', script], {
      cwd: project,
    })
    times.push(Number(stdout))
  }
  return {
    version: packages[`node_modules/${name}`]?.version ?? '',
    packages: Object.keys(packages).length,
    size: await measureDirectory(modules),
    importMs: times.toSorted((a, b) => a - b)[2] ?? 0,
  }
}

async function measureDirectory(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const sizes = await Promise.all(
    entries.map(async (entry) =>
      entry.isFile() ? (await stat(join(entry.parentPath, entry.name))).size : 0,
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
