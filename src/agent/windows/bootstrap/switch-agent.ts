import { win32 } from 'node:path'
import { type FormerAgent, formerAgentFormat } from '../../../contract/previous-agent.ts'
import type { HostAnswer } from '../../../contract/host-call.ts'
import { commandOf, type ScmService } from '../../../contract/service.ts'
import { readVersioned } from '../../../contract/versioned.ts'
import { versionPattern, type WindowsPlaces } from '../../../contract/windows-paths.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { ServiceState, ServiceWish } from '../operations/services.ts'
import { commandLine } from '../powershell/command-line.ts'
import { sizeOf, textOf, writeText } from './host-files.ts'
import type { CallScene } from './host-call-context.ts'

/**
 * How a Windows host goes over to another agent. A new one is on trial until somebody has spoken with it: a service of
 * its own goes back to the former one, unless the trial has ended by then. The trial is a file, and on the disk with that
 * service before anything leads to the new agent. So whoever is cut leaves either the former agent, or the new one with a
 * service that counts anew with every start of the host.
 */
type Change = Pick<CallScene, 'host' | 'places'>

export const agentName = 'hyperkube-agent'
export const revertName = 'hyperkube-revert'

/** A service that stops takes as long as what it is at; one that starts, as long as its program takes to load. */
const patience = 60_000
const every = 500

export async function currentVersion({ host, places }: Change): Promise<string | undefined> {
  const version = (await textOf(host.files, places.current))?.trim() ?? ''
  return versionPattern.test(version) ? version : undefined
}

function trialFile({ state }: WindowsPlaces): string {
  return win32.join(state, 'former-agent.json')
}

async function formerAgent({ host, places }: Change): Promise<FormerAgent | undefined> {
  const text = await textOf(host.files, trialFile(places))
  return text === undefined ? undefined : readVersioned(formerAgentFormat, JSON.parse(text))
}

export async function isOnTrial(scene: Change): Promise<boolean> {
  return (await formerAgent(scene)) !== undefined
}

export async function serviceNamed(
  { host }: Pick<Change, 'host'>,
  name: string,
): Promise<ServiceState | undefined> {
  return (await host.operations.services.list({ names: [name] }))[0]
}

export interface Services {
  readonly service: ScmService
  readonly revert: ScmService
}

/** Makes a version whose program is in its place the host's agent. */
export async function changeTo(
  scene: Change,
  version: string,
  { service, revert }: Services,
): Promise<HostAnswer['answer']> {
  const { host, places } = scene
  await beginTrial(scene, version)
  const former = await formerAgent(scene)
  const onTrial = former !== undefined && former.version !== version
  if (onTrial) {
    await stop(scene, revertName)
    await host.operations.services.put(wishOf({ ...revert, program: places.program(former.version) }))
    await host.operations.services.start({ name: revertName })
  }
  if (await restart(scene, version, wishOf(service))) return { type: 'installed', onTrial }
  if (onTrial) await goBack(scene)
  const more = onTrial ? '; the former one runs again' : ''
  throw new HyperkubeError('AGENT_NOT_STARTED', `its agent ${version} did not start${more}`, {
    hint: `on the host: sc.exe query ${agentName}, and the last lines in ${places.logs}`,
  })
}

/** An agent that nobody has spoken with yet is none to go back to: the one before it is. */
async function beginTrial(scene: Change, version: string): Promise<void> {
  const { host, places } = scene
  const [current, there] = [await currentVersion(scene), await serviceNamed(scene, agentName)]
  if (current === undefined || current === version || there === undefined || (await isOnTrial(scene))) return
  const former: FormerAgent = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'FormerAgent',
    version: current,
    commandLine: there.commandLine,
  }
  await writeText(host.files, trialFile(places), `${JSON.stringify(former)}\n`)
}

/** As a plan's is put there. */
export function wishOf(service: ScmService): ServiceWish {
  const { program, arguments: args } = commandOf(service)
  const [first = 0, second = 0, further = 0] = service.restartAfter
  return {
    name: service.name,
    description: service.description,
    commandLine: commandLine(program, args),
    dependsOn: [...service.dependsOn],
    environment: Object.entries(service.environment).map(([variable, value]) => `${variable}=${value}`),
    restartAfter: [first, second, further],
  }
}

/** Program and service lead to the version, and it runs; false when it does not come to run. */
async function restart(scene: Change, version: string, wish: ServiceWish): Promise<boolean> {
  const { host, places } = scene
  await host.operations.services.put(wish)
  await writeText(host.files, places.current, `${version}\n`)
  await stop(scene, agentName)
  return start(scene)
}

export async function start(scene: Change): Promise<boolean> {
  try {
    await scene.host.operations.services.start({ name: agentName })
  } catch (error) {
    if (error instanceof HyperkubeError && error.code === 'WINDOWS_OPERATION_FAILED') return false
    throw error
  }
  const seen = await settled(scene, agentName, ['Running', 'Stopped'])
  return seen?.state === 'Running'
}

/** Unless somebody has spoken with the new one by now: whoever did has taken the trial away. */
export async function goBack(scene: Change): Promise<void> {
  const { host, places } = scene
  const former = await formerAgent(scene)
  if (former !== undefined && ((await sizeOf(host.files, places.program(former.version))) ?? 0) > 0) {
    const there = await serviceNamed(scene, agentName)
    await restart(scene, former.version, {
      name: agentName,
      description: there?.description ?? '',
      commandLine: former.commandLine,
      dependsOn: [],
      environment: [],
      restartAfter: [2000, 5000, 15_000],
    })
  }
  await endTrial(scene, { self: true })
}

/** For good. The file goes first: a service that finds none does nothing. */
export async function endTrial(scene: Change, { self }: { readonly self: boolean }): Promise<void> {
  const { host, places } = scene
  await host.files.remove(trialFile(places))
  // The one that goes back cannot wait for its own end: it goes when its process does.
  if (!self) await stop(scene, revertName)
  await host.operations.services.remove({ name: revertName })
}

async function stop(scene: Change, name: string): Promise<void> {
  const seen = await serviceNamed(scene, name)
  if (seen === undefined || seen.state === 'Stopped') return
  await scene.host.operations.services.stop({ name })
  await settled(scene, name, ['Stopped'])
}

/** Looks until it is in one of some states, or for long enough. */
async function settled(
  scene: Change,
  name: string,
  states: readonly ServiceState['state'][],
): Promise<ServiceState | undefined> {
  for (let waited = 0; ; waited += every) {
    const seen = await serviceNamed(scene, name)
    if (seen === undefined || states.includes(seen.state) || waited >= patience) return seen
    await scene.host.clock.pause(every, new AbortController().signal)
  }
}
