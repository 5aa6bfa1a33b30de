import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Credentials, KubeApi } from '../../lab/cluster/kube-api.ts'
import { parseShape, shapeHosts } from '../../lab/cluster/shape.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import { until } from '../../src/kit/poll-until.ts'
import { clientOf } from './client-certificate.ts'
import { layOut } from './install-plan.ts'
import { labMirror } from './lab-mirror.ts'
import { planIn } from './planned-cluster.ts'

/** A cluster as far as its API: etcd and API servers as they are planned, and nothing on workers but the program. */
export interface ApiServers {
  readonly controlPlanes: readonly Host[]
  readonly workers: readonly Host[]
  readonly admin: Credentials
  readonly api: KubeApi
  /** Where cluster.yml and what belongs to it are. */
  readonly directory: string
  close(): Promise<void>
}

const parts = ['etcd', 'kube-apiserver']

export async function apiServers(lab: Lab, shape: string, kubernetes: string): Promise<ApiServers> {
  const hosts = await lab.up(shapeHosts(parseShape(shape)))
  const directory = await mkdtemp(join(tmpdir(), 'api-'))
  const mirror = await labMirror(lab)
  try {
    const cast = hosts.map((host) => ({ host, roles: [roleOf(host)] }))
    const { plans, identity } = await planIn(directory, kubernetes, mirror.address, cast)
    const [controlPlanes, workers] = [
      hosts.filter((host) => roleOf(host) === 'control-plane'),
      hosts.filter((host) => roleOf(host) === 'worker'),
    ]
    await settleAll(
      controlPlanes.map(async (host) => {
        const plan = plans.find((one) => one.host === host.name)
        if (plan === undefined) throw new Error(`nothing is planned for ${host.name}`)
        const components = plan.components.filter(({ name }) => parts.includes(name))
        await layOut(host, { ...plan, components }, identity)
        await host.exec(['systemctl', 'start', '--no-block', ...parts])
      }),
    )
    const admin = await clientOf(identity, 'kubernetes', 'test', ['system:masters'])
    const api = new KubeApi(`https://${controlPlanes[0]?.address}:6443`, admin)
    await until('the API', async () => api.text('/api/v1/namespaces/default'), { within: 120_000 })
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

function roleOf({ name }: Host): string {
  return name.startsWith('cp') ? 'control-plane' : 'worker'
}
