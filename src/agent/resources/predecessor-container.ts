import type {
  ContainerRecord,
  ContainerState,
  Predecessor,
  RestartPolicy,
} from '../../contract/predecessor.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { DockerContainer, LinuxHost } from '../host/host.ts'
import { runsDockerContainers } from './containers.ts'
import { inspectTakenData, notThere, recordData, returnData, takeData } from './predecessor-data.ts'
import {
  type MakeContext,
  type RemoveResult,
  type ResourceObservation,
  wasAbsent,
  wasRemoved,
} from './resource-handler.ts'

type Container = Extract<Predecessor, { kind: 'container' }>

/** Policy of a container that must not start with Docker. */
const neverRestart: RestartPolicy = { name: 'no', retries: 0 }

/** Reads what a host needs to return to a container. Throws if the host does not have the container. */
export async function recordContainer(
  { container, data, kept }: Container,
  context: MakeContext<LinuxHost>,
): Promise<ContainerRecord> {
  const { host, component } = context
  const state = await readContainerState(container, context, kept)
  const recorded = await recordData(host, data)
  if (kept && data !== undefined && recorded === undefined) throw notThere(data.from, component.name)
  return { kind: 'container', ...state, ...(recorded === undefined ? {} : { data: recorded }) }
}

/** Reads a container. If it is required, throws if the host does not have it. */
export async function readContainerState(
  container: string,
  { host, component }: MakeContext<LinuxHost>,
  isRequired: boolean,
): Promise<ContainerState> {
  const found = await host.docker.find(container)
  if (isRequired && found === 'unavailable') throw noDocker(container, component.name)
  if (isRequired && found === 'absent') throw notThere(`the container ${container}`, component.name)
  return {
    container,
    running: typeof found === 'object' && found.running,
    restartPolicy: typeof found === 'object' ? found.restartPolicy : neverRestart,
  }
}

export function noDocker(container: string, component?: string): HyperkubeError {
  return new HyperkubeError(
    'PREDECESSOR_NO_DOCKER',
    `Docker does not respond, so the container ${container} can neither stop nor start`,
    {
      ...(component === undefined ? {} : { component }),
      hint: startDockerHint,
    },
  )
}

const startDockerHint = 'on the host: systemctl start docker; then run the same command again'

/** A container cannot run without Docker, so a stopped Docker is no drift. */
export async function inspectReplacedContainer(
  host: LinuxHost,
  { container, data }: ContainerRecord,
): Promise<ResourceObservation> {
  const found = await host.docker.find(container)
  if (typeof found === 'object' && found.running) return { drift: 'its container runs' }
  if (mayRestart(found)) return { drift: 'Docker would start its container again' }
  return inspectTakenData(host, data)
}

function mayRestart(found: DockerContainer | 'absent' | 'unavailable'): boolean {
  return typeof found === 'object' && found.restartPolicy.name !== 'no'
}

/**
 * Stops a container and takes over its data. The container stays in Docker until the commit. Every part
 * may be repeated. Once Docker has stopped, the container has stopped too.
 */
export async function replaceContainer(
  context: MakeContext<LinuxHost>,
  { container, data }: ContainerRecord,
  isKept: boolean,
): Promise<boolean> {
  const { host } = context
  const wasActive = await stopContainer(context, container)
  const tookData = await takeData(context, data)
  const isDiscarded = !isKept && typeof (await host.docker.find(container)) === 'object'
  if (isDiscarded) await host.docker.remove(container)
  return wasActive || tookData || isDiscarded
}

/**
 * Stops a container for good. The restart policy changes first, so a restart of Docker in between cannot start
 * the container again. Returns false if it did not run. Throws if Docker does not respond but its containers
 * still run, because hyperkube would start its component beside the container.
 */
export async function stopContainer(
  { host, component, signal }: MakeContext<LinuxHost>,
  container: string,
): Promise<boolean> {
  const { docker } = host
  const found = await docker.find(container)
  if (found === 'unavailable' && (await runsDockerContainers(host))) {
    throw new HyperkubeError(
      'PREDECESSOR_NO_DOCKER',
      `Docker does not respond, but its containers still run, so ${container} cannot stop`,
      { component: component.name, hint: startDockerHint },
    )
  }
  if (typeof found !== 'object' || !(found.running || mayRestart(found))) return false
  await docker.setRestartPolicy(container, neverRestart)
  await docker.stop(container, signal)
  const after = await docker.find(container)
  if (typeof after !== 'object' || !after.running) return true
  throw new HyperkubeError('PREDECESSOR_RUNS', `the container ${container} still runs after docker stop`, {
    component: component.name,
    hint: `on the host: docker logs --tail 20 ${container}; then run the same command again`,
  })
}

/** Gives the data back, restores the restart policy and starts the container if it was running. */
export async function restoreContainer(
  host: LinuxHost,
  { data, ...state }: ContainerRecord,
): Promise<RemoveResult> {
  if ((await host.docker.find(state.container)) === 'unavailable') throw noDocker(state.container)
  await returnData(host, data)
  return (await restoreContainerState(host, state)) ? wasRemoved : wasAbsent
}

/** Restores the restart policy of a container, and starts it if it was running. */
export async function restoreContainerState(
  { docker }: Pick<LinuxHost, 'docker'>,
  { container, running, restartPolicy }: ContainerState,
): Promise<boolean> {
  const found = await docker.find(container)
  if (found === 'unavailable') throw noDocker(container)
  if (found === 'absent') return false
  const isPending =
    (running && !found.running) ||
    found.restartPolicy.name !== restartPolicy.name ||
    found.restartPolicy.retries !== restartPolicy.retries
  if (!isPending) return false
  await docker.setRestartPolicy(container, restartPolicy)
  if (running) await docker.start(container)
  return true
}
