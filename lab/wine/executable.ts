import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { win32 } from 'node:path'
import { bundleProgram, hostScript, inject, seaConfig } from '../../scripts/executable.ts'
import { nodeVersion } from './node-for-windows.ts'
import type { Wine } from './wine.ts'

/**
 * The executable for Windows, as it is released but for the Node in it, at C:\NAME.exe. Node prepares it in Wine: what it
 * prepares is for its own version alone.
 */
export async function executableInWine(
  { place, run }: Pick<Wine, 'place' | 'run'>,
  node: string,
  { name, entry }: { readonly name: string; readonly entry: string },
): Promise<string> {
  const work = `C:\\build-${name}`
  await mkdir(place(work), { recursive: true })
  const path = (file: string): string => win32.join(work, file)
  const files = { bundle: path('bundle.cjs'), blob: path('blob'), script: path('host.ps1'), own: false }
  await bundleProgram(place(files.bundle), { entry, node: Number.parseInt(nodeVersion, 10) })
  await copyFile(hostScript, place(files.script))
  await writeFile(place(path('sea.json')), seaConfig(files))
  await copyFile(node, place(path('node.exe')))
  await run([path('node.exe'), '--experimental-sea-config', path('sea.json')])
  const output = `C:\\${name}.exe`
  await copyFile(node, place(output))
  await inject(place(output), place(files.blob))
  return output
}
