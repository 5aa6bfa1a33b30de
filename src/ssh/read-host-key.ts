import { readFile } from 'node:fs/promises'
import { run } from '../kit/command.ts'
import { pinnedAlgorithms } from './host-key-format.ts'
import type { Settings } from './options.ts'
import type { Hop, Reach } from './ssh-route.ts'
import { keyAlias, nameIn } from './system-config.ts'
import { connectionFailed, patience, plainWords, tooSlow } from './system-master.ts'
import { expiring } from './deadline.ts'

/** A way that the ssh program goes, and the files that tell it how. */
export interface Way {
  readonly reach: Reach
  /** The host last. */
  readonly hops: readonly Hop[]
  readonly config: string
  readonly knownHosts: string
  readonly settings: Settings
}

/** The key that a machine shows to the ssh program, which goes no further: no key of ours is offered to it. */
export async function hostKeyShown(way: Way, index: number): Promise<string> {
  const { reach, hops, settings } = way
  const hop = hops[index] ?? reach
  const file = `${way.knownHosts}.${index}`
  const kinds = pinnedAlgorithms(settings.pinned(hop))
  const set = [
    'StrictHostKeyChecking=accept-new',
    `UserKnownHostsFile="${file}"`,
    'PreferredAuthentications=none',
    'ControlPath=none',
    ...(kinds.length === 0 ? [] : [`HostKeyAlgorithms=^${kinds.join(',')}`]),
  ]
  const options = ['-F', way.config, ...set.flatMap((text) => ['-o', text])]
  const limit = expiring(settings.signal, patience(reach, settings), () => tooSlow(reach, settings))
  const { stderr } = await run(['ssh', ...options, nameIn(hops, index), 'true'], {
    signal: limit.signal,
    env: plainWords(),
    allowFailure: true,
  }).finally(() => limit.clear())
  const text = await readFile(file, 'utf8').catch(() => '')
  const [, key] = new RegExp(`^${keyAlias(index)} (.*)$`, 'm').exec(text) ?? []
  if (key === undefined) throw await connectionFailed(stderr, reach, settings)
  return key
}
