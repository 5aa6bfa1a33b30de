import { join } from 'node:path'
import { z } from 'zod'
import type { KeyCount } from '../../../etcd/member.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { streamDatabase } from '../../../snapshot/database.ts'
import type { RunCommand } from '../../host/command.ts'
import type { LocalEtcdMember } from '../local-etcd.ts'
import type { LocalSnapshots } from '../local-snapshots.ts'
import { type RequestHandlers, unsupportedError } from '../request-handlers.ts'

export interface TakeSnapshotDeps {
  readonly member: () => Promise<LocalEtcdMember | undefined>
  readonly snapshots: LocalSnapshots
  readonly verify: VerifySnapshotFile
}

/**
 * Takes a snapshot without a run. A snapshot may take minutes but disturbs nothing, so neither healing nor an
 * operator has to wait. The revision is read just before the download, and a snapshot with an older revision
 * is rejected.
 */
export function createTakeSnapshotHandler({
  member,
  snapshots,
  verify,
}: TakeSnapshotDeps): RequestHandlers['take-snapshot'] {
  return async ({ name, remove }, signal) => {
    const local = await member()
    if (local === undefined)
      throw unsupportedError('no etcd member runs on this host', 'hyperkube etcd status')
    const { client, endpoint } = local
    const lines: string[] = []
    if ((await snapshots.list()).some((one) => one.name === name)) lines.push(`${name} already exists`)
    else {
      await snapshots.requireSpace((await client.status(endpoint, { signal })).size)
      const known = await client.countKeys(endpoint, { signal })
      const bytes = streamDatabase(client.database(endpoint, { signal }), () => undefined)
      await snapshots.save(name, bytes, async (file) => {
        const { revision, keys } = await verify(local, file, known, signal)
        lines.push(`${snapshots.directory}/${name} has ${keys} keys at revision ${revision}`)
      })
    }
    // Older snapshots are removed last, because they are needed until the new one is verified.
    const removed = await snapshots.remove(remove.filter((one) => one !== name))
    return [...lines, ...removed.map((one) => `removed ${one}`)]
  }
}

/**
 * Returns the revision and key count of a snapshot file. Fails if the file is damaged or older than `known`.
 */
type VerifySnapshotFile = (
  local: LocalEtcdMember,
  file: string,
  known: KeyCount,
  signal: AbortSignal,
) => Promise<KeyCount>

const statusOutput = z.looseObject({ revision: z.int(), totalKey: z.int() })

/** Verifies snapshots with etcdutl, which reads every page of the database. */
export function createEtcdutlVerifier(command: RunCommand): VerifySnapshotFile {
  return async ({ component }, file, known, signal) => {
    const directory = component.artifacts.find(({ name }) => name === 'etcd')?.directory ?? ''
    const argv = [join(directory, 'etcdutl'), 'snapshot', 'status', file, '--write-out=json'] as const
    const { stdout } = await command(argv, { signal }).catch((cause: unknown) => {
      signal.throwIfAborted()
      throw invalidSnapshotError('etcdutl cannot read it', cause)
    })
    const { revision, totalKey: keys } = statusOutput.parse(JSON.parse(stdout))
    if (revision < known.revision) {
      throw invalidSnapshotError(
        `its revision ${revision} is older than revision ${known.revision} of the member`,
      )
    }
    return { revision, keys }
  }
}

function invalidSnapshotError(reason: string, cause?: unknown): HyperkubeError {
  return new HyperkubeError('SNAPSHOT_INVALID', `the snapshot is invalid and was discarded: ${reason}`, {
    component: 'etcd',
    hint: 'the controller tries another member; to check the members: hyperkube etcd status',
    ...(cause === undefined ? {} : { cause }),
  })
}
