import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { basename, join, win32 } from 'node:path'
import { bundleProgram, hostScript, injectBlob, renderSeaConfig } from '../../scripts/executable.ts'
import type { Argv } from '../../src/kit/command.ts'
import { nodeVersion } from './node-for-windows.ts'
import type { Wine } from './wine.ts'

type Drive = Pick<Wine, 'toLocalPath' | 'run'>

const work = String.raw`C:\build`
const node = win32.join(work, 'node.exe')
const script = win32.join(work, 'host.ps1')

/**
 * Bundles a module of the repository for Wine, puts Node into the same directory, and returns the command
 * that starts the bundle.
 */
export async function bundleInWine(
  { toLocalPath }: Pick<Wine, 'toLocalPath'>,
  nodeFile: string,
  entry: string,
): Promise<Argv> {
  const bundle = win32.join(work, `${basename(entry, '.ts')}.cjs`)
  await mkdir(toLocalPath(work), { recursive: true })
  await bundleProgram(toLocalPath(bundle), {
    entry,
    node: Number.parseInt(nodeVersion, 10),
    polyfill: join(import.meta.dirname, 'disposable-stack.ts'),
  })
  await copyFile(hostScript, toLocalPath(script))
  await copyFile(nodeFile, toLocalPath(node))
  return [node, bundle]
}

/**
 * Builds hyperkube.exe as it is released, but with the Node version for Wine. This Node also prepares the
 * blob in Wine, because a blob is valid only for the version that prepared it.
 */
export async function buildExecutableInWine(drive: Drive, nodeFile: string): Promise<string> {
  const { toLocalPath, run } = drive
  const [, bundle = ''] = await bundleInWine(drive, nodeFile, 'src/main.ts')
  const [blob, config, output] = [
    win32.join(work, 'blob'),
    win32.join(work, 'sea.json'),
    String.raw`C:\hyperkube.exe`,
  ]
  await writeFile(
    toLocalPath(config),
    renderSeaConfig({ main: bundle, output: blob, assets: { 'host.ps1': script } }),
  )
  await run([node, '--experimental-sea-config', config])
  await copyFile(nodeFile, toLocalPath(output))
  await injectBlob(toLocalPath(output), toLocalPath(blob))
  return output
}
