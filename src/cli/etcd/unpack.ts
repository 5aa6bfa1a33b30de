import { basename, join, resolve } from 'node:path'
import { HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import { fileBytes } from '../../snapshot/file-bytes.ts'
import { type SmallFile, smallFiles } from '../../snapshot/manifest.ts'
import { openSnapshot } from '../../snapshot/open.ts'
import { type Context, type ExitCode, exitCodes, type Invocation } from '../command.ts'
import { print } from '../print.ts'
import { trustOf } from './trust.ts'

/** The identity is sealed, and all the same nobody else's business. */
const modes: Readonly<Record<SmallFile, number>> = {
  'cluster.identity': 0o600,
  'cluster.yml': 0o644,
  'cluster.lock': 0o644,
}

/**
 * Takes the files of a cluster out of a snapshot, for who has lost all but the snapshot and the key. Nothing is written
 * before the whole of it was read, and never over anything.
 */
export async function unpack(
  context: Context,
  { key, output }: Invocation['options'],
  file: string | undefined,
  to = '.',
): Promise<ExitCode> {
  const { stderr, stdout, signal } = context
  if (file === undefined || key === undefined) {
    stderr.write('USAGE: which one, and which key? hyperkube etcd snapshot unpack FILE --key KEY --to DIR\n')
    return exitCodes.usage
  }
  const targets = smallFiles.map((name) => ({ name, path: join(to, name) }))
  for (const { path } of targets) if (await context.exists(path)) throw there(path)
  const bytes = fileBytes(resolve(file), signal)
  const { manifest, small, database } = await openSnapshot(bytes, await trustOf(context, key))
  for await (const _ of database);
  await context.makePrivateDirectory(to)
  for (const { name, path } of targets) {
    await context.createFile(path, small[name].toString('utf8'), modes[name])
  }
  const files = targets.map(({ path }) => path)
  const document = { ...manifest, kind: 'EtcdSnapshotUnpacked', name: basename(file), files }
  print(stdout, output, document, () =>
    printable(
      `of ${manifest.cluster.name}, as of ${manifest.created}:\n${files.map((path) => `  ${path}\n`).join('')}` +
        `once cluster.yml names the hosts: hyperkube etcd snapshot restore ${file} -f ${join(to, 'cluster.yml')} --key ${key}\n`,
    ),
  )
  return exitCodes.ok
}

function there(path: string): HyperkubeError {
  return new HyperkubeError('SNAPSHOT_UNPACK_EXISTS', `${path} is there already, and nothing was written`, {
    hint: '--to names an empty directory',
  })
}
