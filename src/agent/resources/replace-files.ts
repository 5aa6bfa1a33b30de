import { isFileLocked } from '../host/files.ts'
import { join } from '../host/host-path.ts'
import type { Host } from '../host/host.ts'
import { buildProgramPaths, listReplaceSteps } from '../windows-worker/replace-program.ts'
import type { ProgramObservation } from '../windows-worker/worker.ts'
import { type IsReplacementFile, listFilesBelow } from './artifact-files.ts'
import { type RemoveResult, wasRemoved } from './resource-handler.ts'

/**
 * Returns a check for the `.old` and `.new` files that remain next to a program that was replaced while it
 * ran. They are removed once no process uses them.
 */
export function replacementFileCheck({ os }: Pick<Host, 'os'>): IsReplacementFile {
  if (os !== 'windows') return () => false
  return (path, names) => /\.(?:old|new)$/.test(path) && names.has(path.replace(/\.\w+$/, ''))
}

/**
 * Moves every file of one directory to another and removes files that do not belong there. Windows cannot
 * move a directory from which programs run, but it can move the running programs one by one.
 */
export async function replaceFiles(host: Host, from: string, to: string): Promise<void> {
  const { files } = host
  const sourcePaths = await listFilesBelow(files, from)
  for (const path of sourcePaths) await replaceFile(host, join(from, path), join(to, path))
  const [names, isReplacement] = [new Set(sourcePaths), replacementFileCheck(host)]
  for (const path of await listFilesBelow(files, to)) {
    if (!names.has(path) && !isReplacement(path, names)) await files.remove(join(to, path))
  }
  await files.removeTree(from)
}

/** Maximum number of steps to replace one file. */
const maxSteps = 8

/**
 * Replaces a file with the same steps as the programs of a Windows worker (`listReplaceSteps`). An
 * interruption or a locked file therefore never leaves the host without the program.
 */
async function replaceFile({ files }: Host, from: string, path: string): Promise<void> {
  const digestIfFile = async (at: string): Promise<string | undefined> =>
    (await files.stat(at))?.kind === 'file' ? files.digest(at) : undefined
  const program = { path, sha256: await files.digest(from) }
  const { staged, previous } = buildProgramPaths(program)
  let problem: unknown
  for (let count = 0; count < maxSteps; count++) {
    const observed: ProgramObservation = {
      target: await digestIfFile(path),
      staged: await digestIfFile(staged),
      previous: await digestIfFile(previous),
    }
    let stepTaken = false
    for (const step of listReplaceSteps('containerd', program, observed)) {
      try {
        if (step.do === 'fetch') await files.rename(from, staged)
        else if (step.do === 'move') await files.rename(step.from, step.to)
        else if (step.do === 'discard') await files.remove(step.path)
        stepTaken = true
        break
      } catch (error) {
        if (!isFileLocked(error)) throw error
        problem = error
      }
    }
    if (stepTaken) continue
    // The new program is in place. Only the previous program could not be deleted, because a process still
    // uses it.
    if (observed.target === program.sha256) return
    throw problem
  }
}

/** Removes a tree. On Windows a directory from which a program still runs stays and is reported as in use. */
export async function removeTreeUnlessInUse(host: Host, directory: string): Promise<RemoveResult> {
  try {
    await host.files.removeTree(directory)
    return wasRemoved
  } catch (error) {
    if (host.os === 'linux' || !isFileLocked(error)) throw error
    return { changed: true, retained: [], inUse: [directory] }
  }
}
