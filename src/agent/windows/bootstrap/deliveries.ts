import { win32 } from 'node:path'
import type { HostAnswer, HostAsk } from '../../../contract/host-call.ts'
import { unfinishedUpload } from '../../../contract/windows-paths.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { closedDirectory, digestOf, sizeOf } from './host-files.ts'
import { notWhole } from './install.ts'
import type { CallScene } from './host-call-context.ts'

type AskFor<T extends HostAsk['type']> = Extract<HostAsk, { type: T }>

/** Gives a file that was brought its name, if it is what it should be. */
export async function take(
  { host, places }: CallScene,
  { temporary, target, size, sha256 }: AskFor<'take'>,
): Promise<HostAnswer['answer']> {
  const { files } = host
  for (const path of [temporary, target]) refuseOutside(places.base, path)
  const [length, found] = [await sizeOf(files, temporary), await digestOf(files, temporary)]
  if (length !== size || found !== sha256) {
    await files.remove(temporary)
    throw notWhole(target, sha256, found ?? 'that of nothing')
  }
  await files.setAccess(temporary, { uid: 0, gid: 0, mode: 0o600 })
  // Whoever has brought it could not bring it to the disk.
  await files.syncTree(win32.dirname(temporary))
  await files.rename(temporary, target)
  return { type: 'done' }
}

/** Makes places for what is to be brought, and says what is there: a file that has its name is whole. */
export async function deliveries(
  { host, places }: CallScene,
  { folders }: AskFor<'deliveries'>,
): Promise<HostAnswer['answer']> {
  const { files } = host
  const found: { path: string; size: number }[] = []
  for (const folder of folders) {
    const directory = win32.join(places.delivered, folder)
    await closedDirectory(files, directory)
    const entries = (await files.list(directory)) ?? []
    for (const { name } of entries.filter((one) => !one.name.endsWith(unfinishedUpload))) {
      const size = await sizeOf(files, win32.join(directory, name))
      if (size !== undefined) found.push({ path: `${folder}/${name}`, size })
    }
  }
  return { type: 'deliveries', files: found }
}

/** Whoever asks is an administrator anyway; this is against a mistake of ours. */
function refuseOutside(base: string, path: string): void {
  const below = win32.relative(base, path)
  if (below !== '' && !below.startsWith('..') && !win32.isAbsolute(below)) return
  throw new HyperkubeError('UPLOAD_FAILED', `${path} is not below ${base}`)
}
