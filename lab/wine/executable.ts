import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { basename, join, win32 } from 'node:path'
import { bundleProgram, hostScript, inject, seaConfig } from '../../scripts/executable.ts'
import type { Argv } from '../../src/kit/command.ts'
import { nodeVersion } from './node-for-windows.ts'
import type { Wine } from './wine.ts'

type Drive = Pick<Wine, 'place' | 'run'>

const work = String.raw`C:\build`
const node = win32.join(work, 'node.exe')
const script = win32.join(work, 'host.ps1')

/** A file of the repository as a program for Wine, with Node beside it: how it is started. */
export async function bundleInWine(
  { place }: Pick<Wine, 'place'>,
  nodeFile: string,
  entry: string,
): Promise<Argv> {
  const bundle = win32.join(work, `${basename(entry, '.ts')}.cjs`)
  await mkdir(place(work), { recursive: true })
  await bundleProgram(place(bundle), {
    entry,
    node: Number.parseInt(nodeVersion, 10),
    missing: join(import.meta.dirname, 'disposable-stack.ts'),
  })
  await copyFile(hostScript, place(script))
  await copyFile(nodeFile, place(node))
  return [node, bundle]
}

/**
 * hyperkube.exe as it is released, but for the Node in it. That prepares it in Wine: what a Node prepares is for its own
 * version alone.
 */
export async function executableInWine(drive: Drive, nodeFile: string): Promise<string> {
  const { place, run } = drive
  const [, bundle = ''] = await bundleInWine(drive, nodeFile, 'src/main.ts')
  const [blob, config, output] = [
    win32.join(work, 'blob'),
    win32.join(work, 'sea.json'),
    String.raw`C:\hyperkube.exe`,
  ]
  await writeFile(place(config), seaConfig({ bundle, blob, script, own: false }))
  await run([node, '--experimental-sea-config', config])
  await copyFile(nodeFile, place(output))
  await inject(place(output), place(blob))
  return output
}
