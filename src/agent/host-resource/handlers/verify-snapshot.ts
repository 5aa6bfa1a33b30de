import { join } from 'node:path'
import { z } from 'zod'
import type { KeyCount } from '../../../etcd/member.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { Command } from '../../host/command.ts'
import type { OwnMember } from '../local-etcd.ts'

/** What is in a snapshot; fails where it is not good, or has less than is known to be in it. */
export type ProveSnapshot = (
  own: OwnMember,
  file: string,
  known: KeyCount,
  signal: AbortSignal,
) => Promise<KeyCount>

const answer = z.looseObject({ revision: z.int(), totalKey: z.int() })

/** etcd's own program walks through every page of it. */
export function etcdutlProof(command: Command): ProveSnapshot {
  return async ({ component }, file, known, signal) => {
    const directory = component.artifacts.find(({ name }) => name === 'etcd')?.directory ?? ''
    const argv = [join(directory, 'etcdutl'), 'snapshot', 'status', file, '--write-out=json'] as const
    const { stdout } = await command(argv, { signal }).catch((cause: unknown) => {
      signal.throwIfAborted()
      throw notGood('etcdutl does not take it for one', cause)
    })
    const { revision, totalKey: keys } = answer.parse(JSON.parse(stdout))
    if (revision < known.revision) {
      throw notGood(`it ends with revision ${revision}, and ${known.revision} was there before`)
    }
    return { revision, keys }
  }
}

function notGood(why: string, cause?: unknown): HyperkubeError {
  return new HyperkubeError('SNAPSHOT_NOT_GOOD', `the snapshot is not good, and was not kept: ${why}`, {
    component: 'etcd',
    hint: 'another member is asked next; hyperkube etcd status shows how they are',
    ...(cause === undefined ? {} : { cause }),
  })
}
