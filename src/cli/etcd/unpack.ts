import { basename, join, resolve } from 'node:path'
import { readFileBytes } from '../../kit/files.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { toPrintable } from '../../kit/text.ts'
import { type SmallFile, smallFiles } from '../../snapshot/manifest.ts'
import { openSnapshot } from '../../snapshot/open.ts'
import { type CommandContext, type ExitCode, exitCodes, type Invocation } from '../command/command.ts'
import { printResult } from '../command/print.ts'
import { loadKeyTrust } from './trust.ts'

/** File modes. Only the owner may read the identity, although it is sealed. */
const modes: Readonly<Record<SmallFile, number>> = {
  'cluster.identity': 0o600,
  'cluster.yml': 0o644,
  'cluster.lock': 0o644,
}

/**
 * Extracts the files of a cluster from a snapshot, for operators who have only the snapshot and the key left.
 * Files are written only after the whole snapshot was read. Existing files are never overwritten.
 */
export async function unpackSnapshot(
  context: CommandContext,
  { key = '', output }: Invocation['options'],
  file: string,
  to = '.',
): Promise<ExitCode> {
  const { stdout, signal } = context
  const targets = smallFiles.map((name) => ({ name, path: join(to, name) }))
  for (const { path } of targets) if (await context.exists(path)) throw buildExistsError(path)
  const bytes = readFileBytes(resolve(file), signal)
  const { manifest, small, database } = await openSnapshot(bytes, await loadKeyTrust(context, key))
  for await (const _ of database);
  await context.makePrivateDirectory(to)
  for (const { name, path } of targets) {
    await context.createFile(path, small[name].toString('utf8'), modes[name])
  }
  const files = targets.map(({ path }) => path)
  const document = { ...manifest, kind: 'EtcdSnapshotUnpacked', name: basename(file), files }
  printResult(stdout, output, document, () =>
    toPrintable(
      `extracted the files of ${manifest.cluster.name}, as of ${manifest.created}:\n${files.map((path) => `  ${path}\n`).join('')}` +
        `check the hosts in cluster.yml, then run: hyperkube etcd snapshot restore ${file} -f ${join(to, 'cluster.yml')} --key ${key}\n`,
    ),
  )
  return exitCodes.ok
}

function buildExistsError(path: string): HyperkubeError {
  return new HyperkubeError('SNAPSHOT_UNPACK_EXISTS', `${path} exists; nothing was written`, {
    hint: 'use an empty directory: --to DIRECTORY',
  })
}
