import { HyperkubeError } from '../../kit/errors.ts'
import type { Access, FileFacts } from '../host/files.ts'
import type { Host } from '../host/host.ts'

/** Who may do what, in the words of a plan. */
export interface PlannedAccess {
  readonly owner: string
  readonly mode: string
}

export async function accessOf(host: Host, { owner, mode }: PlannedAccess): Promise<Access> {
  const ids = await host.users.find(owner)
  if (ids !== undefined) return { ...ids, mode: Number.parseInt(mode, 8) }
  throw new HyperkubeError('APPLY_NO_OWNER', `there is no user ${owner}, who shall own a file`, {
    hint: 'a plan makes its users first: run the same command again, from its first stage on',
  })
}

/** What differs, in a few words; nothing when all is as planned. */
export async function accessDrift(
  host: Host,
  facts: FileFacts,
  { owner, mode }: PlannedAccess,
): Promise<string | undefined> {
  const ids = await host.users.find(owner)
  if (ids === undefined) return `its owner ${owner} is gone`
  if (facts.uid !== ids.uid || facts.gid !== ids.gid) {
    return `it belongs to ${facts.uid}:${facts.gid}, not to ${owner}`
  }
  const found = `0${facts.mode.toString(8).padStart(3, '0')}`
  return found === mode ? undefined : `its mode is ${found}, not ${mode}`
}
