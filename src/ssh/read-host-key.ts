import { readFile } from 'node:fs/promises'
import { runProgram } from '../kit/command.ts'
import { pinnedAlgorithms } from './host-key-format.ts'
import type { ConnectSettings } from './options.ts'
import type { SshRoute } from './ssh-route.ts'
import type { Hop } from './hop.ts'
import { hostKeyAlias, hopName } from './system-config.ts'
import {
  explainConnectionFailure,
  masterTimeoutMs,
  englishEnvironment,
  buildMasterTimeoutError,
} from './system-master.ts'
import { startDeadline } from './deadline.ts'

/** A route of the ssh program and its configuration files. */
export interface SystemRoute {
  readonly reach: SshRoute
  /** All machines on the route. The host is the last one. */
  readonly hops: readonly Hop[]
  readonly config: string
  readonly knownHosts: string
  readonly settings: ConnectSettings
}

/** Reads the host key of a machine with the ssh program, without offering any of the operator's keys. */
export async function readHostKey(route: SystemRoute, index: number): Promise<string> {
  const { reach, hops, settings } = route
  const hop = hops[index] ?? reach
  const file = `${route.knownHosts}.${index}`
  const kinds = pinnedAlgorithms(settings.pinned(hop))
  const overrides = [
    'StrictHostKeyChecking=accept-new',
    `UserKnownHostsFile="${file}"`,
    'PreferredAuthentications=none',
    'ControlPath=none',
    ...(kinds.length === 0 ? [] : [`HostKeyAlgorithms=^${kinds.join(',')}`]),
  ]
  const options = ['-F', route.config, ...overrides.flatMap((text) => ['-o', text])]
  const limit = startDeadline(settings.signal, masterTimeoutMs(reach, settings), () =>
    buildMasterTimeoutError(reach, settings),
  )
  const { stderr } = await runProgram(['ssh', ...options, hopName(hops, index), 'true'], {
    signal: limit.signal,
    env: englishEnvironment(),
    allowFailure: true,
  }).finally(() => limit.clear())
  const text = await readFile(file, 'utf8').catch(() => '')
  const [, key] = new RegExp(`^${hostKeyAlias(index)} (.*)$`, 'm').exec(text) ?? []
  if (key === undefined) throw await explainConnectionFailure(stderr, reach, settings)
  return key
}
