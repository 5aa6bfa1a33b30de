/**
 * Switching the agent of a Windows host. A new agent is provisional until an operator has connected to it. If
 * no operator connects, a rollback service restores the previous agent. The rollback service and the record
 * of the previous agent are on disk before the new agent is used. After an interruption, either the previous
 * agent runs, or the new agent runs together with the rollback service. The timeout of the rollback service
 * restarts at every boot.
 */

import { win32 } from 'node:path'
import type { HostCallResponse } from '../../contract/host-call.ts'
import { versionPattern, type WindowsPaths } from '../../contract/host-paths.ts'
import { buildServiceCommand, type ScmServiceSpec } from '../../contract/service.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { type PreviousAgent, previousAgentFormat } from '../../contract/windows-state.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { ServiceState, WindowsServiceSpec } from '../host/windows-operations/services.ts'
import { formatWindowsCommandLine } from '../host/windows/service-control-manager.ts'
import {
  type HostCallContext,
  readHostFileSize,
  readHostText,
  writeAdminOnlyText,
} from './host-call-context.ts'

type SwitchContext = Pick<HostCallContext, 'host' | 'paths'>

export const agentName = 'hyperkube-agent'
export const revertName = 'hyperkube-revert'

/**
 * Milliseconds to wait for a service to stop or start. A service stops when its current work is done, and has
 * started when its program is loaded.
 */
const serviceTimeoutMs = 60_000
const pollIntervalMs = 500

export async function readCurrentVersion({ host, paths }: SwitchContext): Promise<string | undefined> {
  const version = (await readHostText(host.files, paths.currentVersionFile))?.trim() ?? ''
  return versionPattern.test(version) ? version : undefined
}

function previousAgentFile({ state }: WindowsPaths): string {
  return win32.join(state, 'previous-agent.json')
}

async function readPreviousAgent({ host, paths }: SwitchContext): Promise<PreviousAgent | undefined> {
  const text = await readHostText(host.files, previousAgentFile(paths))
  return text === undefined ? undefined : readVersioned(previousAgentFormat, JSON.parse(text))
}

export async function isAgentProvisional(context: SwitchContext): Promise<boolean> {
  return (await readPreviousAgent(context)) !== undefined
}

export async function findWindowsService(
  { host }: Pick<SwitchContext, 'host'>,
  name: string,
): Promise<ServiceState | undefined> {
  return (await host.operations.services.list({ names: [name] }))[0]
}

export interface AgentServices {
  readonly service: ScmServiceSpec
  readonly rollback: ScmServiceSpec
}

/** Makes an installed version the host's agent. */
export async function switchAgent(
  context: SwitchContext,
  version: string,
  { service, rollback }: AgentServices,
): Promise<HostCallResponse['body']> {
  const { host, paths } = context
  await recordPreviousAgent(context, version)
  const previous = await readPreviousAgent(context)
  const provisional = previous !== undefined && previous.version !== version
  if (provisional) {
    await stopService(context, revertName)
    await host.operations.services.put(
      toAgentServiceSpec({ ...rollback, program: paths.program(previous.version) }),
    )
    await host.operations.services.start({ name: revertName })
  }
  if (await installAndRestart(context, version, toAgentServiceSpec(service)))
    return { type: 'installed', provisional }
  if (provisional) await rollBackAgent(context)
  const more = provisional ? '; the previous agent runs again' : ''
  throw new HyperkubeError('AGENT_NOT_STARTED', `agent ${version} did not start${more}`, {
    hint: `on the host: sc.exe query ${agentName}; the logs are in ${paths.logs}`,
  })
}

/**
 * Records the agent to which a rollback returns. If the current agent is provisional itself, the existing
 * record stays.
 */
async function recordPreviousAgent(context: SwitchContext, version: string): Promise<void> {
  const { host, paths } = context
  const [current, existing] = [
    await readCurrentVersion(context),
    await findWindowsService(context, agentName),
  ]
  if (
    current === undefined ||
    current === version ||
    existing === undefined ||
    (await isAgentProvisional(context))
  )
    return
  const previous: PreviousAgent = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'PreviousAgent',
    version: current,
    commandLine: existing.commandLine,
  }
  await writeAdminOnlyText(host.files, previousAgentFile(paths), `${JSON.stringify(previous)}\n`)
}

/** Converts a service of a plan into the arguments of `services.put`. */
export function toAgentServiceSpec(service: ScmServiceSpec): WindowsServiceSpec {
  const { program, arguments: args } = buildServiceCommand(service)
  const [first = 0, second = 0, further = 0] = service.restartAfter
  return {
    name: service.name,
    description: service.description,
    commandLine: formatWindowsCommandLine(program, args),
    dependsOn: [...service.dependsOn],
    environment: Object.entries(service.environment).map(([variable, value]) => `${variable}=${value}`),
    restartAfter: [first, second, further],
  }
}

/**
 * Configures the service and the version file for this version and restarts the service. Returns false if the
 * service does not start.
 */
async function installAndRestart(
  context: SwitchContext,
  version: string,
  spec: WindowsServiceSpec,
): Promise<boolean> {
  const { host, paths } = context
  await host.operations.services.put(spec)
  await writeAdminOnlyText(host.files, paths.currentVersionFile, `${version}\n`)
  await stopService(context, agentName)
  return startAgent(context)
}

export async function startAgent(context: SwitchContext): Promise<boolean> {
  try {
    await context.host.operations.services.start({ name: agentName })
  } catch (error) {
    if (error instanceof HyperkubeError && error.code === 'WINDOWS_OPERATION_FAILED') return false
    throw error
  }
  const observed = await waitForState(context, agentName, ['Running', 'Stopped'])
  return observed?.state === 'Running'
}

/**
 * Rolls back to the previous agent. Does nothing if the new agent was confirmed, because confirming deletes
 * the record of the previous agent.
 */
export async function rollBackAgent(context: SwitchContext): Promise<void> {
  const { host, paths } = context
  const previous = await readPreviousAgent(context)
  if (
    previous !== undefined &&
    ((await readHostFileSize(host.files, paths.program(previous.version))) ?? 0) > 0
  ) {
    const existing = await findWindowsService(context, agentName)
    await installAndRestart(context, previous.version, {
      name: agentName,
      description: existing?.description ?? '',
      commandLine: previous.commandLine,
      dependsOn: [],
      environment: [],
      restartAfter: [2000, 5000, 15_000],
    })
  }
  await forgetPreviousAgent(context, { self: true })
}

/**
 * Ends the provisional period. The record of the previous agent is removed first, because the rollback
 * service does nothing without it.
 */
export async function forgetPreviousAgent(
  context: SwitchContext,
  { self }: { readonly self: boolean },
): Promise<void> {
  const { host, paths } = context
  await host.files.remove(previousAgentFile(paths))
  // The rollback service cannot wait for its own end. Windows removes it when its process ends.
  if (!self) await stopService(context, revertName)
  await host.operations.services.remove({ name: revertName })
}

async function stopService(context: SwitchContext, name: string): Promise<void> {
  const observed = await findWindowsService(context, name)
  if (observed === undefined || observed.state === 'Stopped') return
  await context.host.operations.services.stop({ name })
  await waitForState(context, name, ['Stopped'])
}

/** Waits until the service is in one of the states or the timeout has passed. */
async function waitForState(
  context: SwitchContext,
  name: string,
  states: readonly ServiceState['state'][],
): Promise<ServiceState | undefined> {
  for (let waited = 0; ; waited += pollIntervalMs) {
    const observed = await findWindowsService(context, name)
    if (observed === undefined || states.includes(observed.state) || waited >= serviceTimeoutMs)
      return observed
    await context.host.clock.pause(pollIntervalMs, new AbortController().signal)
  }
}
