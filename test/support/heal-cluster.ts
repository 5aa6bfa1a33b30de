import { type Credentials, KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import type { HostHealth } from '../../src/contract/health.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import { until } from '../../src/kit/poll-until.ts'
import { askDoctor, lineOf } from './heal-doctor.ts'
import { healthOf, saysWell } from './heal-health.ts'
import { credentialsIn } from './kubeconfig.ts'
import { nodesReady } from './membership.ts'
import type { Operator } from './operator.ts'
import type { UpCluster } from './up-cluster.ts'

/** A cluster to which something happens, and those who look at it. */
export class HealScene implements Disposable {
  readonly lab: Lab
  readonly hosts: readonly Host[]
  readonly operator: Operator
  readonly credentials: Credentials
  /** One for each control plane, because each may be the one that is away. */
  readonly #apis: ReadonlyMap<string, KubeApi>

  private constructor({ lab, hosts, operator }: UpCluster, credentials: Credentials) {
    this.lab = lab
    this.hosts = hosts
    this.operator = operator
    this.credentials = credentials
    this.#apis = new Map(
      this.controlPlanes.map(({ name, address }) => [
        name,
        new KubeApi(`https://${address}:6443`, credentials),
      ]),
    )
  }

  static async of(cluster: UpCluster): Promise<HealScene> {
    return new HealScene(cluster, credentialsIn((await cluster.operator.must(0, 'kubeconfig')).stdout))
  }

  [Symbol.dispose](): void {
    for (const api of this.#apis.values()) api.close()
  }

  get controlPlanes(): Host[] {
    return this.hosts.filter(({ name }) => name.startsWith('cp'))
  }

  host(name: string): Host {
    const found = this.hosts.find((host) => host.name === name)
    if (found === undefined) throw new Error(`there is no ${name}`)
    return found
  }

  others({ name }: Host): Host[] {
    return this.hosts.filter((host) => host.name !== name)
  }

  /** The API as it is at another host than this one. */
  apiBeside({ name }: Host): KubeApi {
    const found = [...this.#apis].find(([server]) => server !== name)?.[1]
    if (found === undefined) throw new Error(`there is no API server but that of ${name}`)
    return found
  }

  async isReady(host: Host): Promise<boolean> {
    return (await nodesReady(this.apiBeside(host))).includes(host.name)
  }

  /** Whether a script of this host ends well, soon. */
  async holds(host: Host, script: string): Promise<boolean> {
    const { code } = await host.script(script, { allowFailure: true, signal: AbortSignal.timeout(20_000) })
    return code === 0
  }

  /** What every agent knows; of those that do not answer, nothing. */
  async health(): Promise<ReadonlyMap<string, HostHealth>> {
    const seen = await Promise.all(
      this.hosts.map(async (host) => [host.name, await healthOf(host).catch(() => undefined)] as const),
    )
    return new Map(seen.flatMap(([name, health]) => (health === undefined ? [] : [[name, health]])))
  }

  async agentSaysWell(host: Host): Promise<boolean> {
    return saysWell(await healthOf(host))
  }

  /** Once every agent and `doctor` have nothing to say, and all nodes are Ready. */
  async quiet(within: number): Promise<void> {
    let said = 'nobody was asked'
    const look = async (): Promise<boolean> => {
      const { findings } = await askDoctor(this.operator)
      said = findings.map(lineOf).join('; ')
      if (findings.length > 0) return false
      const [first] = this.#apis.values()
      const ready = first === undefined ? [] : await nodesReady(first)
      said = `only ${ready.join()} are Ready`
      return ready.length === this.hosts.length
    }
    await until('doctor to be silent', look, { within, every: 2000 }).catch((error: unknown) => {
      throw new Error(`after ${within / 1000} s doctor is not silent: ${said}`, { cause: error })
    })
  }

  /** The same on all hosts at once. */
  async everywhere(script: string): Promise<void> {
    await settleAll(this.hosts.map(async (host) => host.script(script)))
  }

  /** Nothing is left that was kept for whoever mends things by hand. */
  async forgetKept(): Promise<void> {
    await this.everywhere('rm -rf /root/heal-*')
  }
}
