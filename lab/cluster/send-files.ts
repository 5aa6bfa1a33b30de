import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { runProgram } from '../../src/kit/command.ts'
import type { Host } from '../hosts/host.ts'
import type { Files } from './node-files.ts'

/** Writes files to a host; secret files are readable by root only. */
export async function sendFiles(host: Host, files: Files): Promise<void> {
  const work = await mkdtemp(join(host.directory, 'send-'))
  try {
    const tree = join(work, 'tree')
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(tree, path)), { recursive: true })
      await writeFile(join(tree, path), text, { mode: chooseMode(path) })
    }
    const packed = join(work, 'files.tar')
    await runProgram(['tar', '--owner=0', '--group=0', '-C', tree, '-cf', packed, ...topDirectories(files)])
    await host.exec(['tar', '-x', '--no-overwrite-dir', '-p', '-C', '/'], { input: await readFile(packed) })
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

function chooseMode(path: string): number {
  if (path.endsWith('.key') || path.endsWith('.conf')) return 0o600
  return path.includes('bin/') ? 0o755 : 0o644
}

function topDirectories(files: Files): string[] {
  return [...new Set(Object.keys(files).map((path) => path.slice(0, path.indexOf('/'))))]
}
