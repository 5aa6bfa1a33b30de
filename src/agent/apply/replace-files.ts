import { isLocked } from '../host/files.ts'
import type { Host } from '../host/host.ts'
import { join } from '../host/host-path.ts'
import { placesOf, replacing } from '../windows/reconcile/replace-program.ts'
import type { ProgramSeen } from '../windows/reconcile/worker-observation.ts'
import { type Beside, filesBelow } from './artifact-files.ts'
import { type Removed, removed } from './resource-handler.ts'

/** What is left beside a program that was replaced while it ran: it goes when nobody runs it any more. */
export function besideOn({ os }: Pick<Host, 'os'>): Beside {
  if (os !== 'windows') return () => false
  return (path, names) => /\.(?:old|new)$/.test(path) && names.has(path.replace(/\.\w+$/, ''))
}

/**
 * Brings every file of one directory to its place in another, where programs may run: a directory cannot be moved then,
 * and a program only by itself. What does not belong there goes.
 */
export async function replaceFiles(host: Host, from: string, to: string): Promise<void> {
  const { files } = host
  const wanted = await filesBelow(files, from)
  for (const path of wanted) await replaceFile(host, join(from, path), join(to, path))
  const [names, isBeside] = [new Set(wanted), besideOn(host)]
  for (const path of await filesBelow(files, to)) {
    if (!names.has(path) && !isBeside(path, names)) await files.remove(join(to, path))
  }
  await files.removeTree(from)
}

/** As many steps as it can take at most. */
const most = 8

/** By the same steps by which a program is replaced while a worker is kept: it is never without one. */
async function replaceFile({ files }: Host, from: string, path: string): Promise<void> {
  const digestAt = async (at: string): Promise<string | undefined> =>
    (await files.stat(at))?.kind === 'file' ? files.digest(at) : undefined
  const program = { path, sha256: await files.digest(from) }
  const { staged, aside } = placesOf(program)
  let problem: unknown
  for (let count = 0; count < most; count++) {
    const seen: ProgramSeen = {
      target: await digestAt(path),
      staged: await digestAt(staged),
      aside: await digestAt(aside),
    }
    let taken = false
    for (const step of replacing('containerd', program, seen)) {
      try {
        if (step.do === 'fetch') await files.rename(from, staged)
        else if (step.do === 'move') await files.rename(step.from, step.to)
        else if (step.do === 'discard') await files.remove(step.path)
        taken = true
        break
      } catch (error) {
        if (!isLocked(error)) throw error
        problem = error
      }
    }
    if (taken) continue
    // What is left is only that the former one is still used.
    if (seen.target === program.sha256) return
    throw problem
  }
}

/** What a program still runs from stays, and all around it. */
export async function takeTree(host: Host, directory: string): Promise<Removed> {
  try {
    await host.files.removeTree(directory)
    return removed
  } catch (error) {
    if (host.os === 'linux' || !isLocked(error)) throw error
    return { changed: true, left: [], held: [directory] }
  }
}
