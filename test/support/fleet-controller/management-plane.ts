import { monotonicClock } from '../../../src/kit/monotonic-clock.ts'
import { pollUntil } from '../../../src/kit/poll.ts'
import { KubeClient } from '../../../src/kube/client.ts'
import { buildClusterStatusCrd } from '../../../src/kube/cluster-status.ts'
import { defaultElectionTiming, type ElectionResult } from '../../../src/kube/election.ts'
import { buildHostCrd } from '../../../src/kube/host-resource.ts'
import { applyObject } from '../../../src/kube/write-objects.ts'
import { CompletedConfig } from '../../../src/manager/config.ts'
import { fleetCrds } from '../../../src/manager/fleet/resources.ts'
import { buildManagerRbac } from '../../../src/manager/rbac.ts'
import { runManager } from '../../../src/manager/run-manager.ts'
import { selectControllers } from '../../../src/manager/select-controllers.ts'
import { controllers } from '../../../src/manager/table.ts'
import type { LocalControlPlane } from '../local-control-plane.ts'
import type { ManagementAccess } from './managed-cluster.ts'

/** Controllers of a management plane that is also a managed cluster itself. */
export const planeControllers = selectControllers(controllers, [
  'fleet-rollout',
  'fleet-status',
  'fleet-member',
  'cluster-status',
])

export interface AdminAccess extends ManagementAccess {
  readonly client: KubeClient
  readonly kubeconfig: string
}

export async function openAdmin(local: LocalControlPlane, signal: AbortSignal): Promise<AdminAccess> {
  const { port, ca, token } = await local.readAccess()
  const servers = [`https://127.0.0.1:${port}`]
  const kubeconfig = JSON.stringify({
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
    clusters: [
      {
        name: 'x',
        cluster: {
          server: servers[0],
          'certificate-authority-data': Buffer.from(ca).toString('base64'),
        },
      },
    ],
    users: [{ name: 'x', user: { token } }],
  })
  return { servers, ca, kubeconfig, client: new KubeClient({ servers, ca, credentials: { token }, signal }) }
}

/** Installs what `up` installs in a management plane: definitions and the permissions of each controller. */
export async function installPlane(client: KubeClient): Promise<void> {
  for (const manifest of [
    buildHostCrd(),
    buildClusterStatusCrd(),
    ...fleetCrds,
    ...buildManagerRbac(planeControllers),
  ])
    await applyObject(client, manifest, { force: true })
  await pollUntil(
    'the definitions to be served',
    async () =>
      client.request({ method: 'GET', path: '/apis/fleet.hyperkube.dev/v1/rollouts' }).then(
        () => true,
        () => false,
      ),
    { timeoutMs: 30_000 },
  )
}

/** The controller manager of the management plane, in this process. It restarts as its service does. */
export class PlaneManager implements AsyncDisposable {
  readonly lines: string[] = []
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>

  constructor(kubeconfig: string) {
    this.#ended = this.#run(kubeconfig)
  }

  async #run(kubeconfig: string): Promise<void> {
    const { signal } = this.#stop
    for (let instance = 1; !signal.aborted; instance++) {
      const config = await CompletedConfig.complete(
        {
          ...{ kubeconfig: 'k', controllers: planeControllers, listen: { host: '127.0.0.1', port: 0 } },
          election: { ...defaultElectionTiming, retry: 500 },
        },
        { readFile: async () => kubeconfig, machine: 'plane', uuid: () => String(instance) },
      )
      const result = await runManager(
        config,
        {
          ...{ time: monotonicClock, now: () => new Date(), random: Math.random },
          log: (line) => this.lines.push(line),
        },
        signal,
      ).catch((error: unknown): ElectionResult | undefined => void this.lines.push(String(error)))
      this.lines.push(`ended: ${JSON.stringify(result)}`)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#ended
  }
}
