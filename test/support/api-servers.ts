import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Credentials, KubeApi } from '../../lab/cluster/kube-api.ts'
import { listHostNames, parseShape } from '../../lab/cluster/shape.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { issueClientCertificate } from './client-certificate.ts'
import { installPlan } from './install-plan.ts'
import { openLabMirror } from './lab-mirror.ts'
import { planInDirectory } from './planned-cluster.ts'

/**
 * A cluster with only etcd and API servers, installed from a plan. Workers have only the hyperkube program.
 */
export interface ApiServers {
  readonly controlPlanes: readonly Host[]
  readonly workers: readonly Host[]
  readonly admin: Credentials
  readonly api: KubeApi
  /** Directory of cluster.yml and its companion files. */
  readonly directory: string
  close(): Promise<void>
}

const installedComponents = ['etcd', 'kube-apiserver']

export async function startApiServers(lab: Lab, shape: string, kubernetes: string): Promise<ApiServers> {
  const hosts = await lab.up(listHostNames(parseShape(shape)))
  const directory = await mkdtemp(join(tmpdir(), 'api-'))
  const mirror = await openLabMirror(lab)
  try {
    const hostsWithRoles = hosts.map((host) => ({ host, roles: [getRole(host)] }))
    const { plans, identity } = await planInDirectory(directory, kubernetes, mirror.address, hostsWithRoles)
    const [controlPlanes, workers] = [
      hosts.filter((host) => getRole(host) === 'control-plane'),
      hosts.filter((host) => getRole(host) === 'worker'),
    ]
    await settleAll(
      controlPlanes.map(async (host) => {
        const plan = plans.find((one) => one.host === host.name)
        if (plan === undefined) throw new Error(`nothing is planned for ${host.name}`)
        const components = plan.components.filter(({ name }) => installedComponents.includes(name))
        await installPlan(host, { ...plan, components }, identity)
        await host.exec(['systemctl', 'start', '--no-block', ...installedComponents])
      }),
    )
    const admin = await issueClientCertificate(identity, 'kubernetes', 'test', ['system:masters'])
    const api = new KubeApi(`https://${controlPlanes[0]?.address}:6443`, admin)
    await pollUntil('the API', async () => api.text('/api/v1/namespaces/default'), { timeoutMs: 120_000 })
    return {
      controlPlanes,
      workers,
      admin,
      api,
      directory,
      async close() {
        api.close()
        await rm(directory, { recursive: true, force: true })
      },
    }
  } finally {
    await mirror.close()
  }
}

function getRole({ name }: Host): string {
  return name.startsWith('cp') ? 'control-plane' : 'worker'
}
