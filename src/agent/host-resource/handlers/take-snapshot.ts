import { databaseBytes } from '../../../snapshot/database.ts'
import type { Deeds } from '../request-handlers.ts'
import { cannot } from './handler-errors.ts'
import type { OwnMember } from '../local-etcd.ts'
import type { ProveSnapshot } from './verify-snapshot.ts'
import type { SnapshotShelf } from '../local-snapshots.ts'

export interface SnapshotScene {
  readonly member: () => Promise<OwnMember | undefined>
  readonly shelf: SnapshotShelf
  readonly prove: ProveSnapshot
}

/**
 * Not a run: it disturbs nobody, may take minutes, and neither healing nor an operator waits for it. Revision and number of
 * keys are asked the moment before: both are in the database for certain.
 */
export function takeSnapshot({ member, shelf, prove }: SnapshotScene): Deeds['take-snapshot'] {
  return async ({ name, remove }, signal) => {
    const own = await member()
    if (own === undefined) throw cannot('no member of etcd runs on this host', 'hyperkube etcd status')
    const { client, endpoint } = own
    const lines: string[] = []
    if ((await shelf.list()).some((one) => one.name === name)) lines.push(`${name} was there already`)
    else {
      await shelf.makeSure((await client.status(endpoint, { signal })).size)
      const known = await client.countKeys(endpoint, { signal })
      const bytes = databaseBytes(client.database(endpoint, { signal }), () => undefined)
      await shelf.put(name, bytes, async (file) => {
        const { revision, keys } = await prove(own, file, known, signal)
        lines.push(`${shelf.directory}/${name} has ${keys} keys as of revision ${revision}`)
      })
    }
    // Only now: until here the others were all that there is.
    const gone = await shelf.remove(remove.filter((one) => one !== name))
    return [...lines, ...gone.map((one) => `removed ${one}`)]
  }
}
