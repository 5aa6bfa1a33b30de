import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { SimulatedWindows } from './simulator/simulated-windows.ts'
import { NodeApi } from './node-api.ts'
import { nodeObject, nodeStatus, podStatus } from './node-objects.ts'
import { base } from './paths.ts'
import type { Program } from './run-host.ts'

const node = z.looseObject({ spec: z.looseObject({ podCIDR: z.string().optional() }).optional() })
const pods = z.looseObject({
  items: z.array(
    z.looseObject({
      metadata: z.looseObject({
        name: z.string(),
        namespace: z.string(),
        deletionTimestamp: z.string().optional(),
      }),
      spec: z.looseObject({ containers: z.array(z.looseObject({ name: z.string(), image: z.string() })) }),
      status: z.looseObject({ phase: z.string().optional() }).optional(),
    }),
  ),
})

/** As a kubelet does it, which is well for 40 seconds after. */
const every = 10_000

/**
 * What a cluster sees of a kubelet: a Node that is Ready, by the certificate that the agent has put there, and pods that
 * say they run. It is there as long as the service runs. Nothing runs in those pods.
 */
export class Kubelet implements Program {
  readonly service = 'kubelet'
  readonly #windows: SimulatedWindows
  readonly #address: string
  #told = 0
  #subnet: string | undefined

  constructor(windows: SimulatedWindows, address: string) {
    this.#windows = windows
    this.#address = address
  }

  /** The host's part of the pods' network, once the cluster has given it one. */
  get subnet(): string | undefined {
    return this.#subnet
  }

  async follow(process: number): Promise<void> {
    if (process === 0) return
    const isDue = Date.now() - this.#told >= every || this.#subnet === undefined
    const { name, version } = this.#identity()
    using api = await this.#api()
    if (isDue) {
      await api.ensure('/api/v1/nodes', nodeObject(name))
      await api.patch(`/api/v1/nodes/${name}/status`, nodeStatus({ address: this.#address, version }))
      await api.renewLease(name)
      const { spec } = node.parse(await api.get(`/api/v1/nodes/${name}`))
      this.#learn(spec?.podCIDR)
      this.#told = Date.now()
    }
    await this.#runPods(api, name)
  }

  /** What flannel finds, too: it makes its network of it. */
  #learn(podCIDR: string | undefined): void {
    this.#subnet = podCIDR
    if (podCIDR !== undefined) this.#windows.machine.cluster.subnet = podCIDR
  }

  async #runPods(api: NodeApi, name: string): Promise<void> {
    const { items } = pods.parse(await api.get(`/api/v1/pods?fieldSelector=spec.nodeName%3D${name}`))
    for (const [index, { metadata, spec, status }] of items.entries()) {
      const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`
      if (metadata.deletionTimestamp !== undefined) await api.remove(path, { gracePeriodSeconds: 0 })
      else if (status?.phase !== 'Running')
        await api.patch(`${path}/status`, podStatus(this.#podAddress(index), this.#address, spec.containers))
    }
  }

  #podAddress(index: number): string {
    return (this.#subnet ?? '10.244.255.0/24').replace(/\.\d+\/\d+$/, `.${index + 10}`)
  }

  /** As its command line says. */
  #identity(): { readonly name: string; readonly version: string } {
    const line = this.#windows.machine.services.get(this.service)?.commandLine ?? ''
    const name = /--hostname-override=([a-z0-9.-]+)/.exec(line)?.[1] ?? ''
    const version = /\\kubelet-([\d.]+)\\kubelet\.exe/.exec(line)?.[1] ?? '0.0.0'
    return { name, version: `v${version}` }
  }

  async #api(): Promise<NodeApi> {
    const read = async (name: string): Promise<string> =>
      readFile(this.#windows.place(`${base}\\settings\\${name}`), 'utf8')
    const { servers } = z
      .looseObject({ servers: z.array(z.string()).min(1) })
      .parse(JSON.parse(await read('apiserver-proxy\\config.json')))
    return new NodeApi(servers, {
      authority: await read('kubelet\\ca.crt'),
      certificate: await read('kubelet\\client.crt'),
      key: await read('kubelet\\client.key'),
    })
  }
}
