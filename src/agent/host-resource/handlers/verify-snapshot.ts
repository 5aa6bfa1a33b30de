import { join } from 'node:path'
import { z } from 'zod'
import type { KeyCount } from '../../../etcd/member.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { RunCommand } from '../../host/command.ts'
import type { LocalEtcdMember } from '../local-etcd.ts'

/**
 * Returns the revision and key count of a snapshot file. Fails if the file is damaged or older than `known`.
 */
export type VerifySnapshotFile = (
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
      throw invalidSnapshotError('etcdutl does not take it for one', cause)
    })
    const { revision, totalKey: keys } = statusOutput.parse(JSON.parse(stdout))
    if (revision < known.revision) {
      throw invalidSnapshotError(`it ends with revision ${revision}, and ${known.revision} was there before`)
    }
    return { revision, keys }
  }
}

function invalidSnapshotError(reason: string, cause?: unknown): HyperkubeError {
  return new HyperkubeError('SNAPSHOT_INVALID', `the snapshot is not good, and was not kept: ${reason}`, {
    component: 'etcd',
    hint: 'another member is asked next; hyperkube etcd status shows how they are',
    ...(cause === undefined ? {} : { cause }),
  })
}
