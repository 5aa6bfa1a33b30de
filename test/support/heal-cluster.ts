import { expect } from 'vitest'
import { type Credentials, KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import type { HostHealth } from '../../src/contract/health.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { formatFinding, runDoctor } from './heal-doctor.ts'
import { isHostHealthy, readHostHealth } from './heal-health.ts'
import { parseKubeconfig } from './kubeconfig.ts'
import { listReadyNodes } from './membership.ts'
import type { Operator } from './operator.ts'
import type { UpCluster } from './up-cluster.ts'

/** A cluster for fault tests, with ways to observe it. */
export class HealCluster implements Disposable {
  readonly lab: Lab
  readonly hosts: readonly Host[]
  readonly operator: Operator
  readonly credentials: Credentials
  /** A client for each control plane, because any of them may be unreachable. */
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

  static async open(cluster: UpCluster): Promise<HealCluster> {
    return new HealCluster(cluster, parseKubeconfig((await cluster.operator.must(0, 'kubeconfig')).stdout))
  }

  [Symbol.dispose](): void {
    for (const api of this.#apis.values()) api.close()
  }

  get controlPlanes(): Host[] {
    return this.hosts.filter(({ name }) => name.startsWith('cp'))
  }

  getHost(name: string): Host {
    const found = this.hosts.find((host) => host.name === name)
    if (found === undefined) throw new Error(`there is no ${name}`)
    return found
  }

  others({ name }: Host): Host[] {
    return this.hosts.filter((host) => host.name !== name)
  }

  /** Returns an API client of a control plane other than this host. */
  getApiOfOther({ name }: Host): KubeApi {
    const found = [...this.#apis].find(([server]) => server !== name)?.[1]
    if (found === undefined) throw new Error(`there is no API server but that of ${name}`)
    return found
  }

  async isReady(host: Host): Promise<boolean> {
    return (await listReadyNodes(this.getApiOfOther(host))).includes(host.name)
  }

  /** True if a script on this host succeeds within 20 seconds. */
  async scriptSucceeds(host: Host, script: string): Promise<boolean> {
    const { code } = await host.script(script, { allowFailure: true, signal: AbortSignal.timeout(20_000) })
    return code === 0
  }

  /** Reads the health from the agents of all hosts. Agents that do not respond are left out. */
  async readHealth(): Promise<ReadonlyMap<string, HostHealth>> {
    const results = await Promise.all(
      this.hosts.map(async (host) => [host.name, await readHostHealth(host).catch(() => undefined)] as const),
    )
    return new Map(results.flatMap(([name, health]) => (health === undefined ? [] : [[name, health]])))
  }

  async isAgentHealthy(host: Host): Promise<boolean> {
    return isHostHealthy(await readHostHealth(host))
  }

  /** Waits until doctor has no findings and all nodes are Ready. */
  async waitUntilQuiet(timeoutMs: number): Promise<void> {
    let lastReport = 'doctor has not run'
    const checkQuiet = async (): Promise<boolean> => {
      const { findings } = await runDoctor(this.operator)
      lastReport = findings.map(formatFinding).join('; ')
      if (findings.length > 0) return false
      const [first] = this.#apis.values()
      const ready = first === undefined ? [] : await listReadyNodes(first)
      lastReport = `only ${ready.join()} are Ready`
      return ready.length === this.hosts.length
    }
    await pollUntil('doctor to be silent', checkQuiet, { timeoutMs, intervalMs: 2000 }).catch(
      (error: unknown) => {
        throw new Error(`after ${timeoutMs / 1000} s doctor is not silent: ${lastReport}`, { cause: error })
      },
    )
  }

  /** Runs a script on all hosts at once. */
  async runOnAllHosts(script: string): Promise<void> {
    await settleAll(this.hosts.map(async (host) => host.script(script)))
  }

  /** Deletes the backups that faults made for `undo`. */
  async removeBackups(): Promise<void> {
    await this.runOnAllHosts('rm -rf /root/heal-*')
  }
}

/** Waits until doctor has no findings, and expects that status reports no problem. */
export async function expectQuiet(healCluster: HealCluster): Promise<true> {
  await healCluster.waitUntilQuiet(180_000)
  expect((await runDoctor(healCluster.operator)).findings).toEqual([])
  const { code, stdout } = await healCluster.operator.hyperkube('status')
  expect(code, stdout).toBe(0)
  return true
}
